// Step 5: copying what can be typed elsewhere.
import { guarded, ready, tell } from "./app.js";

for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", guarded(async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.of).textContent);
    const label = button.firstChild;
    label.textContent = "Copied";
    tell("copied");
    setTimeout(() => { label.textContent = "Copy"; }, 1500);
  }));
}
ready();
