// Several runs side by side: the scatter shows those that are ticked.
import { Refusal, ask, guarded, ready, state } from "./app.js";
import { drawAll } from "./figures.js";

const form = document.getElementById("chosen");

function show() {
  const ticked = new Set([...form.querySelectorAll("input:checked")].map((box) => `run ${box.value}`));
  const keep = (part) => {
    if (Array.isArray(part)) return part.map(keep);
    if (!part || typeof part !== "object") return part;
    const copy = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, keep(value)]));
    if (Array.isArray(copy.values)) copy.values = copy.values.filter((row) => row?.name === undefined || ticked.has(row.name));
    return copy;
  };
  drawAll(keep(state.charts));
}

if (state.waiting) {
  guarded(async () => {
    const { measured } = await ask("POST", `/tables/${state.table}/weigh`);
    if (!measured) throw new Refusal({ what: "these runs could not be measured on the same scale" });
    location.reload();
  })();
}
if (form) {
  form.addEventListener("change", show);
  show();
}
ready();
