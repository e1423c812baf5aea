// Step 4: the pictures, and for a lattice the choice of another node.
import { ask, guarded, ready, root, state } from "./app.js";
import { drawAll } from "./figures.js";

drawAll(state.charts);
for (const button of document.querySelectorAll(".node")) {
  button.addEventListener("click", guarded(async () => {
    const base = `/tables/${state.table}`;
    await ask("POST", `${base}/runs/${state.judged}/reopen`, { levels: JSON.parse(button.dataset.levels) });
    await ask("POST", `${base}/runs`);
    location.assign(`${root}${base}/anonymize`);
  }));
}
ready();
