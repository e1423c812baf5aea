// Step 3: how the release is made; the work, its progress, and what may come in its way.
import { ask, askPatiently, change, follows, guarded, h, message, own, proposals, ready, root, state, tell } from "./app.js";

const form = document.getElementById("settings");
const working = document.getElementById("working");
const outcome = document.getElementById("outcome");
const base = `/tables/${state.table}`;
const pages = root + base;
const defaults = { algorithm: "mondrian", cuts: "best", measure: "loss", method: "optimal", dealing: "rank" };
const belongs = { mondrian: ["cuts", "dealing", "recoding", "align", "max_set"], lattice: ["measure", "levels", "local_rounds", "max_seconds", "max_checks"], anatomy: ["method", "group_rows"] };
const field = (name) => form.elements[name];
const algorithm = () => field("algorithm").value;

function show() {
  const now = state.content.transform ?? {};
  for (const [key, value] of Object.entries(defaults)) field(key).value = now[key] ?? value;
  field("suppression").value = Number((100 * (now.suppression_limit ?? 0)).toPrecision(12));
  for (const key of ["local_rounds", "max_seconds", "group_rows"]) field(key).value = now[key] ?? "";
  field("group").value = state.content.group ?? "";
  field("seed").value = state.seed ?? "";
  arrange();
}

/** Whether a run is at work, or about to be. */
let atWork = false;

/** Let a run begin where nothing is in its way. */
function permit() {
  document.getElementById("go").disabled = atWork || (state.content.roles.undecided ?? []).length > 0;
}

/** Show what the algorithm looks at, and what it still lacks. */
function arrange() {
  const asked = new Intl.ListFormat("en").format(state.asked);
  document.getElementById("asked").textContent = asked ? `Every group must satisfy ${asked}.` : "Nothing is asked of the groups yet.";
  for (const label of form.querySelectorAll("[data-for]")) label.hidden = label.dataset.for !== algorithm();
  const quasi = state.content.roles.quasi ?? [];
  const without = quasi.filter((name) => !own(state.content.hierarchies, name));
  const lacking = [];
  if (algorithm() === "lattice" && without.length) {
    lacking.push(message("caution", `${without.join(", ")} ${without.length === 1 ? "has" : "have"} no hierarchy yet`, null,
      h("p", {}, h("button", { type: "button", class: "second", onclick: guarded(usual) }, "Give them the usual ones"), " ", h("a", { href: `${pages}/data` }, "or attach your own in step 1"))));
  }
  const unfit = (state.content.principle ?? []).filter((entry) => state.unfit.includes(entry.name)).map((entry) => entry.name);
  if (algorithm() === "anatomy" && unfit.length) {
    const leave = () => change((content) => { content.principle = content.principle.filter((entry) => !unfit.includes(entry.name)); });
    lacking.push(message("caution", `two tables keep the columns exact, so they cannot answer for ${unfit.join(" and ")}`, null,
      h("p", {}, h("button", { type: "button", class: "second", onclick: guarded(() => leave().then(arrange)) }, `Leave ${unfit.join(" and ")} out`))));
  }
  const sensitive = state.content.roles.sensitive ?? [];
  const protecting = (state.content.principle ?? []).filter((entry) => !state.of_size.includes(entry.name)).flatMap((entry) => [entry.on ?? sensitive].flat());
  const bare = sensitive.filter((name) => !protecting.some((on) => on === name || (on.endsWith(".*") && name.startsWith(on.slice(0, -1)))));
  if (bare.length) {
    lacking.push(message("caution", `no principle protects ${bare.join(", ")}: who finds a group may learn the value`, null, h("a", { href: `${pages}/principle` }, "Choose one in step 2")));
  }
  const open = state.content.roles.undecided ?? [];
  if (open.length) lacking.push(message("bad", `you must decide what ${open.join(", ")} ${open.length === 1 ? "is" : "are"}: no release can be made before`, null, h("a", { href: `${pages}/data` }, "Decide in step 1")));
  permit();
  if (!quasi.length) lacking.push(message("bad", "no column is a quasi-identifier", null, h("a", { href: `${pages}/data` }, "Give roles in step 1")));
  if (!(state.content.principle ?? []).length) lacking.push(message("bad", "no principle is chosen", null, h("a", { href: `${pages}/principle` }, "Choose one in step 2")));
  document.getElementById("lacking").replaceChildren(...lacking);
  levels(quasi);
}

let looking = new AbortController();

/** Say what is known of the principles on this table: the reason of what is impossible, and ways out. */
async function look() {
  looking.abort();
  looking = new AbortController();
  const place = document.getElementById("possible");
  if (!(state.content.principle ?? []).length) return place.replaceChildren();
  let found = state.possible;
  state.possible = null; // it answers for the settings that the page began with
  try {
    if (!found) {
      place.replaceChildren(message("waiting", "looking whether this table permits these principles together"));
      found = await ask("POST", `${base}/possible`, {}, { signal: looking.signal });
    }
  } catch (error) {
    if (error.name !== "AbortError") place.replaceChildren(message("caution", error.what ?? "this could not be looked at", error.hint));
    return null;
  }
  const limited = state.content.transform?.suppression_limit > 0;
  const apply = async ({ at, entry }) => {
    await change((content) => { content.principle[at] = entry; });
    arrange();
    await look();
    tell("changed");
  };
  const said = ({ verdict, what, hint, tries }, about) => message(verdict === "no" && !limited ? "bad" : "caution",
    `${about}${what}${limited ? " (unless rows are left out)" : ""}`, proposals(tries, apply, hint), " ", h("a", { href: `${pages}/principle` }, "Change it in step 2"));
  return place.replaceChildren(
    ...found.principles.flatMap((one, at) => (one.verdict === "yes" ? [] : [said(one, `${state.asked[at]}: `)])),
    ...(found.together ? [said(found.together, "")] : []));
}

/** Give columns without a hierarchy one that suits their values; it can be changed in step 1. */
async function usual() {
  const { rules } = await ask("POST", `${base}/hierarchy/usual`);
  await change((content) => { content.hierarchies = { ...rules, ...content.hierarchies }; });
  arrange();
}

/** Fix a column's level of the lattice. */
function levels(quasi) {
  const place = document.getElementById("levels");
  const fixed = state.content.transform?.levels ?? {};
  place.replaceChildren();
  if (algorithm() !== "lattice") return;
  place.append(h("p", { class: "note" }, "Levels that columns must have; empty: whatever loses the least."), h("div", { class: "fields" }, quasi.map((name) => {
    const box = h("input", { type: "number", min: 0, step: 1, placeholder: "any", value: typeof own(fixed, name) === "number" ? fixed[name] : "" });
    box.addEventListener("change", guarded(() => change((content) => {
      const all = box.value === "" ? { ...content.transform?.levels } : { ...content.transform?.levels, [name]: box.valueAsNumber };
      if (box.value === "") delete all[name];
      content.transform = { ...content.transform, levels: all };
      if (!Object.keys(all).length) delete content.transform.levels;
    })));
    return h("label", {}, `Level of ${name}`, box);
  })));
}

const keep = () => change((content) => {
  const transform = { ...content.transform, algorithm: algorithm() };
  for (const [name, keys] of Object.entries(belongs)) {
    for (const key of keys) if (name !== algorithm()) delete transform[key];
  }
  for (const key of belongs[algorithm()]) {
    if (!field(key) || key === "levels") continue;
    const { value } = field(key);
    if (value === "" || value === defaults[key]) delete transform[key];
    else transform[key] = field(key).type === "number" ? Number(value) : value;
  }
  transform.suppression_limit = Number((field("suppression").valueAsNumber / 100 || 0).toPrecision(12));
  content.transform = transform;
  if (field("group").value.trim()) content.group = field("group").value.trim(); else delete content.group;
  return { seed: field("seed").value === "" ? null : field("seed").valueAsNumber };
});
form.addEventListener("change", guarded(async (event) => {
  if (!event.target.name) return;
  arrange();
  await keep();
  await look();
}));

const phases = { reading: "reading the table", preparing: "compiling, which is needed once", splitting: "making groups", verifying: "verifying what would be published" };

/** Follow a run until it ends. */
async function follow(run) {
  working.hidden = false;
  document.getElementById("cancel").focus();
  const bar = working.querySelector("progress");
  const words = document.getElementById("phase");
  document.getElementById("cancel").onclick = guarded(() => ask("POST", `${base}/runs/${run}/cancel`));
  for (;;) {
    const { job } = await askPatiently("GET", `${base}/runs/${run}`, () => { words.textContent = "the app does not answer; asking again"; });
    follows(bar, words, job, phases);
    if (job.state !== "running") return job;
    await new Promise((resolve) => { setTimeout(resolve, 200); });
  }
}

/** Say how a run ended, and what to do next. */
function ended(run, job, lately = true) {
  working.hidden = true;
  const listed = document.querySelector(`#runs li[data-run="${run}"] .state`);
  if (listed && job.state !== "done") Object.assign(listed, { className: `state ${job.state}`, textContent: job.state === "cancelled" ? "cancelled" : "not made" });
  if (job.state === "done") {
    tell("the release is made");
    location.assign(`${pages}/runs/${run}/judge`);
    return;
  }
  atWork = false;
  permit();
  if (job.state === "cancelled") {
    outcome.replaceChildren(h("div", { class: "card" }, message("info", `run ${run} was cancelled; nothing was kept of it`)));
    return;
  }
  const { kind, what, hint, outcome: found } = job.error ?? {};
  const ways = h("p", {}, h("a", { class: "button second", href: `${pages}/principle` }, "Change the principles"));
  const title = kind === "InfeasibleError" ? (found === "impossible" ? "this cannot be promised with these settings" : "no way was found to promise this with these settings") : ["LostError", "InternalError", "MemoryError"].includes(kind) ? "the work broke off" : "the release could not be made";
  outcome.replaceChildren(h("div", { class: "card", tabindex: -1 }, h("h2", {}, `Run ${run}: ${title}`),
    message(kind === "InfeasibleError" ? "caution" : "bad", what ?? "nobody knows why", hint),
    h("p", {}, "Nothing was made; everything else is as it was."), ways));
  if (lately) outcome.firstChild.focus();
}

/** Begin a run, or take up one that has begun; until it has ended, no other begins here. */
async function work(begin) {
  if (atWork) return;
  atWork = true;
  permit();
  try {
    const run = await begin();
    ended(run, await follow(run));
  } catch (error) {
    working.hidden = true;
    atWork = false;
    permit();
    throw error;
  }
}

form.addEventListener("submit", guarded((event) => {
  event.preventDefault();
  return work(async () => {
    outcome.replaceChildren();
    await keep();
    const { run, now } = await ask("POST", `${base}/runs`);
    Object.assign(state, now);
    field("seed").value = state.seed ?? "";
    return run;
  });
}));

for (const item of document.querySelectorAll("#runs li")) {
  item.querySelector(".reopen").addEventListener("click", guarded(async () => {
    Object.assign(state, await ask("POST", `${base}/runs/${item.dataset.run}/reopen`, {}));
    show();
    look();
    tell("settings taken up");
    outcome.replaceChildren(message("good", `the settings of run ${item.dataset.run} are taken up again`));
  }));
}

show();
ready();
look();
// Whoever comes back, or reloads, finds the work where it is.
const last = state.runs.at(-1);
if (last?.job.state === "running") guarded(() => work(() => last.run))();
else if (last?.job.state === "failed" && last.current) ended(last.run, last.job, false);
