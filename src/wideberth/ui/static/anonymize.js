// Step 3: how the release is made; the work, its progress, and what may come in its way.
import { ask, change, guarded, h, message, own, ready, state, tell } from "./app.js";

const form = document.getElementById("settings");
const working = document.getElementById("working");
const outcome = document.getElementById("outcome");
const base = `/tables/${state.table}`;
const defaults = { algorithm: "mondrian", cuts: "best", measure: "loss", method: "optimal", dealing: "rank" };
const belongs = { mondrian: ["cuts", "dealing", "recoding", "align"], lattice: ["measure", "levels", "local_rounds", "max_seconds", "max_checks"], anatomy: ["method", "group_rows"] };
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
      h("p", {}, h("button", { type: "button", class: "second", onclick: guarded(usual) }, "Give them the usual ones"), " ", h("a", { href: `${base}/data` }, "or attach your own in step 1"))));
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
    lacking.push(message("caution", `no principle protects ${bare.join(", ")}: who finds a group may learn the value`, null, h("a", { href: `${base}/principle` }, "Choose one in step 2")));
  }
  if (!quasi.length) lacking.push(message("bad", "no column is a quasi-identifier", null, h("a", { href: `${base}/data` }, "Give roles in step 1")));
  if (!(state.content.principle ?? []).length) lacking.push(message("bad", "no principle is chosen", null, h("a", { href: `${base}/principle` }, "Choose one in step 2")));
  document.getElementById("lacking").replaceChildren(...lacking);
  levels(quasi);
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
      const all = { ...content.transform?.levels };
      if (box.value === "") delete all[name]; else all[name] = box.valueAsNumber;
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
}));

const phases = { reading: "reading the table", preparing: "compiling, which is needed once", splitting: "making groups", verifying: "verifying what would be published" };

/** Follow a run until it ends. */
async function follow(run) {
  working.hidden = false;
  document.getElementById("cancel").focus();
  document.getElementById("go").disabled = true;
  const bar = working.querySelector("progress");
  document.getElementById("cancel").onclick = guarded(() => ask("POST", `${base}/runs/${run}/cancel`));
  for (;;) {
    const { job } = await ask("GET", `${base}/runs/${run}`).catch((error) => {
      working.hidden = true;
      document.getElementById("go").disabled = false;
      throw error;
    });
    const known = job.total > 0 && job.done <= job.total;
    if (known) Object.assign(bar, { max: job.total, value: job.done }); else bar.removeAttribute("value");
    document.getElementById("phase").textContent = `${phases[job.phase] ?? job.phase ?? "starting"}, ${Math.round(job.seconds)} s`;
    if (job.state !== "running") return job;
    await new Promise((resolve) => { setTimeout(resolve, 200); });
  }
}

/** Say how a run ended, and what to do next. */
function ended(run, job, lately = true) {
  working.hidden = true;
  document.getElementById("go").disabled = false;
  if (job.state === "done") {
    tell("the release is made");
    location.assign(`${base}/runs/${run}/judge`);
    return;
  }
  if (job.state === "cancelled") {
    outcome.replaceChildren(h("div", { class: "card" }, message("info", `run ${run} was cancelled; nothing was kept of it`)));
    return;
  }
  const { kind, what, hint } = job.error ?? {};
  const ways = h("p", {}, h("a", { class: "button second", href: `${base}/principle` }, "Change the principles"));
  const title = kind === "InfeasibleError" ? "this cannot be promised with these settings" : ["LostError", "InternalError", "MemoryError"].includes(kind) ? "the work broke off" : "the release could not be made";
  outcome.replaceChildren(h("div", { class: "card", tabindex: -1 }, h("h2", {}, `Run ${run}: ${title}`),
    message(kind === "InfeasibleError" ? "caution" : "bad", what ?? "nobody knows why", hint),
    h("p", {}, "Nothing was made; everything else is as it was."), ways));
  if (lately) outcome.firstChild.focus();
}

form.addEventListener("submit", guarded(async (event) => {
  event.preventDefault();
  outcome.replaceChildren();
  await keep();
  const { run } = await ask("POST", `${base}/runs`);
  ended(run, await follow(run));
}));

for (const item of document.querySelectorAll("#runs li")) {
  item.querySelector(".reopen").addEventListener("click", guarded(async () => {
    Object.assign(state, await ask("POST", `${base}/runs/${item.dataset.run}/reopen`, {}));
    show();
    tell("settings taken up");
    outcome.replaceChildren(message("good", `the settings of run ${item.dataset.run} are taken up again`));
  }));
}

show();
ready();
// Whoever comes back, or reloads, finds the work where it is.
const last = state.runs.at(-1);
if (last?.job.state === "running") guarded(async () => ended(last.run, await follow(last.run)))();
else if (last?.job.state === "failed" && last.current) ended(last.run, last.job, false);
