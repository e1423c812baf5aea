// Open a table: by its path, or by an upload.
import { ask, guarded, ready, send, tell } from "./app.js";

const file = document.getElementById("file");
const drop = document.getElementById("drop");
const shown = document.getElementById("uploading");

// The draft whose table is to be chosen next.
let draft = null;
const take = guarded(async (given) => {
  if (!given) return;
  const about = new URLSearchParams({ name: given.name, ...(draft ? { draft } : {}) });
  draft = null;
  const [bar, words, button] = [shown.querySelector("progress"), shown.querySelector("span"), shown.querySelector("button")];
  shown.hidden = false;
  words.textContent = `${given.name}: 0 %`;
  const sent = send(`/tables/upload?${about}`, given, (done, total) => {
    bar.value = total ? (100 * done) / total : 0;
    words.textContent = `${given.name}: ${Math.floor(bar.value)} %`;
  });
  button.onclick = sent.cancel;
  try {
    location.assign((await sent.answer).url);
  } catch (error) {
    if (error.name === "AbortError") tell("upload cancelled");
    throw error;
  } finally {
    shown.hidden = true;
    file.value = "";
  }
});

file.addEventListener("change", () => take(file.files[0]));
file.addEventListener("cancel", () => { draft = null; });
for (const kind of ["dragenter", "dragover"]) {
  drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
}
for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer.files[0]); });
// A file that misses the zone must not replace the page.
for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());

document.getElementById("by-path").addEventListener("submit", guarded(async (event) => {
  event.preventDefault();
  location.assign((await ask("POST", "/tables", { path: document.getElementById("path").value })).url);
}));
for (const button of document.querySelectorAll("[data-close]")) {
  button.addEventListener("click", guarded(async () => {
    if (!confirm("Close this table? Its releases are removed; what was downloaded stays, and so do the settings, under “Take up again”.")) return;
    await ask("DELETE", `/tables/${button.dataset.close}`);
    location.reload();
  }));
}
for (const item of document.querySelectorAll("#drafts li")) {
  item.querySelector(".take-up").addEventListener("click", guarded(async () => {
    if ("uploaded" in item.dataset) {
      draft = item.dataset.draft;
      file.click();
      return;
    }
    location.assign((await ask("POST", `/drafts/${item.dataset.draft}`)).url);
  }));
  item.querySelector(".forget").addEventListener("click", guarded(async () => {
    if (!confirm(`Remove the settings of ${item.dataset.name}? They cannot be taken up again.`)) return;
    await ask("DELETE", `/drafts/${item.dataset.draft}`);
    location.reload();
  }));
}
ready();
