// Step 1: roles, types and hierarchies of the columns.
import { ask, change, guarded, isSaving, message, own, ready, saved, state } from "./app.js";
import { edit, inWords } from "./hierarchy.js";

const guessed = Object.fromEntries((state.profile?.columns ?? []).map((column) => [column.name, column.role]));
let shelf = [];
const rows = [...document.querySelectorAll("tr[data-column]")];

if (!state.profile) waitForTable();
else {
  for (const row of rows) live(row);
  show();
}

async function waitForTable() {
  while (state.job.state === "running") {
    await new Promise((resolve) => { setTimeout(resolve, 250); });
    try {
      state.job = (await ask("GET", `/tables/${state.table}`)).job;
    } catch {
      break;
    }
  }
  if (document.querySelector("#reading progress")) location.reload();
}

/** Which role the settings give a column; a pattern such as "disease.*" covers several. */
function roleOf(column) {
  const covers = (name) => name === column || (name.endsWith(".*") && column.startsWith(name.slice(0, -1)));
  return Object.keys(state.content.roles).find((role) => state.content.roles[role].some(covers)) ?? "quasi";
}

function live(row) {
  const column = row.dataset.column;
  // What was chosen is read at once: until it is saved, an earlier choice may be shown again.
  row.querySelector(".role").addEventListener("change", guarded(({ target: { value } }) => change((content) => {
    setRole(content, column, value);
  }).finally(show)));
  row.querySelector(".type").addEventListener("change", guarded(({ target: { value } }) => change((content) => {
    content.types = { ...content.types, [column]: value };
  }).finally(show)));
  row.querySelector(".hierarchy").addEventListener("click", guarded(() => edit(column).then(show)));
}

function setRole(content, column, role) {
  const names = rows.map((row) => row.dataset.column);
  const now = Object.fromEntries(names.map((name) => [name, name === column ? role : roleOf(name)]));
  for (const each of ["identifier", "quasi", "sensitive", "insensitive"]) {
    content.roles[each] = names.filter((name) => now[name] === each);
  }
  // A principle on what is not sensitive asks for nothing. It is kept, in case that is changed back.
  const asksOf = (entry) => [entry.on ?? []].flat().every((on) => content.roles.sensitive.includes(on) || on.endsWith(".*"));
  const all = [...(content.principle ?? []), ...shelf.filter((entry) => [entry.on].flat().includes(column))];
  content.principle = all.filter(asksOf);
  shelf = [...shelf.filter((entry) => !all.includes(entry)), ...all.filter((entry) => !asksOf(entry))];
  const transform = content.transform ?? {};
  for (const key of ["levels", "weights", "recoding", "align"]) {
    if (role !== "quasi" && transform[key] && typeof transform[key] === "object") delete transform[key][column];
  }
}

function show() {
  if (isSaving()) return; // the last to be saved shows it
  for (const row of rows) {
    const role = roleOf(row.dataset.column);
    row.className = `role-${role}`;
    row.querySelector(".role").value = role;
    row.querySelector(".why").hidden = role !== own(guessed, row.dataset.column); // then it is a choice
    const kind = own(state.content.types, row.dataset.column);
    if (kind) row.querySelector(".type").value = kind;
    const rule = own(state.content.hierarchies, row.dataset.column);
    row.querySelector(".said").textContent = rule ? inWords(rule) : "add";
    row.querySelector(".hierarchy").hidden = !["quasi", "sensitive"].includes(role);
  }
  for (const head of document.querySelectorAll(".preview th")) head.className = `role-${roleOf(head.dataset.column)}`;
  advise();
}

function advise() {
  const of = (role) => rows.filter((row) => row.classList.contains(`role-${role}`)).length;
  const said = [];
  if (!of("quasi")) said.push(message("bad", "no column is a quasi-identifier, so there is nothing to coarsen", "give that role to what others may know of a person: age, postcode, sex"));
  if (!of("sensitive")) said.push(message("caution", "no column is sensitive, so only group sizes can be protected", "give that role to what nobody must learn"));
  document.getElementById("advice").replaceChildren(...said);
}

document.getElementById("reread")?.addEventListener("submit", guarded(async (event) => {
  event.preventDefault();
  const { missing, delimiter, encoding } = Object.fromEntries(new FormData(event.target));
  await saved();
  await ask("POST", `/tables/${state.table}/reread`, {
    missing: missing.split(",").map((token) => token.trim()),
    delimiter: delimiter === "\\t" ? "\t" : delimiter,
    encoding: encoding.trim(),
  });
  location.reload();
}));

document.getElementById("policy-path")?.addEventListener("submit", guarded(async (event) => {
  event.preventDefault();
  await saved();
  taken(await ask("POST", `/tables/${state.table}/policy`, { path: document.getElementById("policy").value }));
}));
document.getElementById("policy-file")?.addEventListener("change", guarded(async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  await saved();
  taken(await ask("POST", `/tables/${state.table}/policy`, file.slice(0, file.size, "application/toml")));
}));

function taken(answer) {
  const { lacking, ...settings } = answer;
  Object.assign(state, settings);
  show();
  const alerts = document.getElementById("alerts");
  alerts.replaceChildren(lacking.length
    ? message("caution", `settings taken up, but the hierarchy files of ${lacking.join(", ")} were not found beside the policy`, "attach them again below, or name the policy by its path")
    : message("good", "the settings of the policy are taken up"));
  alerts.scrollIntoView({ block: "nearest" });
}
ready();
