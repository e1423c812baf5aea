// Step 1: roles, types and hierarchies of the columns.
import { ask, change, follows, guarded, isSaving, message, own, ready, saved, state } from "./app.js";
import { edit, inWords } from "./hierarchy.js";

const guessed = Object.fromEntries((state.profile?.columns ?? []).map((column) => [column.name, column.role]));
const types = Object.fromEntries((state.profile?.columns ?? []).map((column) => [column.name, column.type]));
/** What stands before a notation where a type is chosen. */
const WAY = "way:";
let shelf = [];
/** Columns whose protection was proposed here, which somebody should look at. */
const proposed = new Map();
const rows = [...document.querySelectorAll("tr[data-column]")];

if (!state.profile) waitForTable();
else {
  for (const row of rows) live(row);
  document.getElementById("rows-are-people").addEventListener("change", guarded(({ target: { checked } }) => change((content) => {
    if (checked) content.rows_are_people = true;
    else delete content.rows_are_people;
  }).finally(show)));
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
    const bar = document.querySelector("#reading progress");
    if (bar) follows(bar, document.getElementById("phase"), state.job);
  }
  if (document.querySelector("#reading progress")) location.reload();
}

/** Which role the settings give a column; a pattern such as "disease.*" covers several. */
function roleOf(column) {
  const covers = (name) => name === column || (name.endsWith(".*") && column.startsWith(name.slice(0, -1)));
  return Object.keys(state.content.roles).find((role) => state.content.roles[role].some(covers)) ?? "undecided";
}

/** The notations between which somebody must choose for a column. */
function ways(row) {
  return [...row.querySelectorAll(`.type option[value^="${WAY}"]`)].map((option) => option.value.slice(WAY.length));
}

/** Which type the settings give a column, or in which way it is read; nothing while that is undecided. */
function kindOf(row) {
  const { column } = row.dataset;
  const way = own(state.content.formats, column);
  if (ways(row).includes(way)) return WAY + way;
  const unclear = state.profile.columns.find((each) => each.name === column)?.unclear && way === undefined;
  return own(state.content.types, column) ?? (unclear ? "" : own(types, column));
}

function live(row) {
  const column = row.dataset.column;
  // What was chosen is read at once: until it is saved, an earlier choice may be shown again.
  row.querySelector(".role").addEventListener("change", guarded(async ({ target: { value } }) => {
    const chosen = change((content) => { setRole(content, column, value); });
    if (value === "sensitive") protect(column);
    await chosen.finally(show);
  }));
  row.querySelector(".type").addEventListener("change", guarded(({ target: { value } }) => change(async (content) => {
    if (!value) return;
    const way = value.startsWith(WAY) ? value.slice(WAY.length) : null;
    const { [column]: before, ...others } = content.formats ?? {};
    if (way !== null || ways(row).includes(before)) {
      content.formats = way === null ? others : { ...others, [column]: way };
    }
    if (way !== null) {
      const { [column]: _, ...kinds } = content.types ?? {};
      content.types = kinds; // a notation has its type
      return;
    }
    if (!["text", "category"].includes(value)) {
      document.getElementById("alerts").replaceChildren(message("waiting", `looking whether all values of ${column} have the type ${value}`));
      await ask("POST", `/tables/${state.table}/fits`, { column, type: value });
    }
    content.types = { ...content.types, [column]: value };
  }).finally(show)));
  row.querySelector(".hierarchy").addEventListener("click", guarded(() => edit(column).then(show)));
}

/** Ask for a principle that protects a column, unless one does already. */
function protect(column) {
  guarded(() => change(async (content) => {
    const covers = (on) => on === column || (on.endsWith(".*") && column.startsWith(on.slice(0, -1)));
    if (!content.roles.sensitive.includes(column) || content.principle?.some((entry) => [entry.on ?? []].flat().some(covers))) return;
    const { principle, why } = await ask("POST", `/tables/${state.table}/protect`, { column });
    content.principle = [...(content.principle ?? []), ...principle];
    proposed.set(column, why);
  }).finally(show))();
}

function setRole(content, column, role) {
  const names = rows.map((row) => row.dataset.column);
  const now = Object.fromEntries(names.map((name) => [name, name === column ? role : roleOf(name)]));
  for (const each of ["identifier", "quasi", "sensitive", "insensitive", "undecided"]) {
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
    const kind = kindOf(row);
    if (kind !== undefined) row.querySelector(".type").value = kind;
    const rule = own(state.content.hierarchies, row.dataset.column);
    row.querySelector(".said").textContent = rule ? inWords(rule) : "add";
    row.querySelector(".hierarchy").hidden = !["quasi", "sensitive"].includes(role);
  }
  document.getElementById("rows-are-people").checked = state.content.rows_are_people === true;
  for (const head of document.querySelectorAll(".preview th")) head.className = `role-${roleOf(head.dataset.column)}`;
  advise();
}

function advise() {
  const of = (role) => rows.filter((row) => row.classList.contains(`role-${role}`)).length;
  const said = [];
  const open = rows.map((row) => row.dataset.column).filter((name) => roleOf(name) === "undecided");
  if (open.length) said.push(message("bad", `you must decide what ${open.join(", ")} ${open.length === 1 ? "is" : "are"}: no release can be made before`, "choose a role above: each is explained over the table"));
  const unread = rows.filter((row) => ways(row).length && !kindOf(row)).map((row) => row.dataset.column);
  if (unread.length) said.push(message("bad", `you must decide how ${unread.join(", ")} ${unread.length === 1 ? "is" : "are"} read: what is there can be read in several ways`, "choose one as its type above"));
  if (!of("quasi")) said.push(message("bad", "no column is a quasi-identifier, so there is nothing to coarsen", "give that role to what others may know of a person: age, postcode, sex"));
  if (!of("sensitive")) said.push(message("caution", "no column is sensitive, so only group sizes can be protected", "give that role to what nobody must learn"));
  (state.content.principle ?? []).forEach((entry, at) => {
    if (proposed.has(entry.on)) said.push(message("info", `proposed for ${entry.on}: ${state.asked[at]}`, "look at it in step 2"));
  });
  for (const [column, why] of proposed) {
    if (why && roleOf(column) === "sensitive") said.push(message("caution", `nothing protects ${column} yet. ${why}`, "choose a principle in step 2"));
  }
  document.getElementById("advice").replaceChildren(...said);
}

document.getElementById("reread")?.addEventListener("submit", guarded(async (event) => {
  event.preventDefault();
  const { missing, delimiter, encoding, skip_rows } = Object.fromEntries(new FormData(event.target));
  await saved();
  await ask("POST", `/tables/${state.table}/reread`, {
    missing: missing.split(",").map((token) => token.trim()),
    delimiter: delimiter === "\\t" ? "\t" : delimiter,
    encoding: encoding.trim(),
    skip_rows: Number(skip_rows),
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
  taken(await ask("POST", `/tables/${state.table}/policy`, file.slice(0, file.size, "application/octet-stream")));
}));

// A file that could not be read is not kept.
document.getElementById("another")?.addEventListener("click", guarded(async (event) => {
  event.preventDefault();
  const { url } = await ask("DELETE", `/tables/${state.table}`);
  location.assign(url);
}));

function taken(answer) {
  const { lacking, ...settings } = answer;
  Object.assign(state, settings);
  document.getElementById("notice")?.remove();
  show();
  const alerts = document.getElementById("alerts");
  alerts.replaceChildren(lacking.length
    ? message("caution", `settings taken up, but the hierarchy files of ${lacking.join(", ")} were not found beside the policy`, "attach them again below, or name the policy by its path")
    : message("good", "the settings of the policy are taken up"));
  alerts.scrollIntoView({ block: "nearest" });
}
ready();
