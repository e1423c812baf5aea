// The colours, set before anything is drawn: as the system has them, or as was chosen here.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const names = { auto: "as the system", light: "light", dark: "dark" };
  const chosen = () => localStorage.getItem("theme") ?? "auto";
  const show = () => {
    const now = chosen();
    root.dataset.theme = now === "auto" ? (system.matches ? "dark" : "light") : now;
    const button = document.getElementById("theme");
    button?.setAttribute("aria-label", `Colours: ${names[now]}`);
    if (button) button.title = `Colours: ${names[now]}`;
  };
  system.addEventListener("change", show);
  show();
  document.addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("theme").addEventListener("click", () => {
      const order = Object.keys(names);
      localStorage.setItem("theme", order[(order.indexOf(chosen()) + 1) % order.length]);
      show();
    });
  });
})();
