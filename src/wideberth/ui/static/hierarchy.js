// The small editor of hierarchies: intervals, masks, dates, trees; tried on the column before it is kept.
import { ask, change, count, guarded, h, message, own, state } from "./app.js";

const dialog = document.getElementById("editor");
const kinds = {
  interval: "Intervals",
  mask: "Masks",
  date: "Dates",
  flat: "All or nothing",
  icd: "ICD-10",
  tree: "Tree, written here",
  file: "Tree, from a file",
};
const usual = { integer: "interval", float: "interval", decimal: "interval", date: "date", datetime: "date" };

/** A rule in a few words. */
export function inWords(rule) {
  if (typeof rule === "string") return "tree";
  if (rule.interval) return `intervals of ${[rule.interval].flat().join(", ")}`;
  if (rule.mask) return `mask of ${rule.mask}`;
  if (rule.date) return [rule.date].flat().join(", ");
  if (rule.flat) return "all or nothing";
  return rule.icd ? "ICD-10" : "tree";
}

/** Which kind a rule is of; a tree that was written here is a file without a header. */
function kindOf(rule) {
  if (typeof rule === "string" || "parents" in rule) return "file";
  if ("file" in rule) return rule.header === false ? "tree" : "file";
  return Object.keys(kinds).find((kind) => kind in rule);
}

/** The name that the user's file had. */
const fileOf = (rule) => {
  const name = (rule.file ?? rule.parents ?? rule).replace(/^.*\//, "");
  const [, stem, suffix] = /^(.*)~~[0-9a-f]{6}(\.\w+)$/.exec(name) ?? [];
  return stem ? decodeURIComponent(stem.replaceAll("~", "%")) + suffix : name;
};

/** Let a column's hierarchy be edited; resolves when the dialog is closed. */
export async function edit(column) {
  const found = state.profile.columns.find((each) => each.name === column);
  const now = own(state.content.hierarchies, column);
  const type = own(state.content.types, column) ?? found.type;
  const rows = now && found.values && ["tree", "file"].includes(kindOf(now))
    ? (await ask("GET", `/tables/${state.table}/hierarchy?column=${encodeURIComponent(column)}`)).rows : [];
  let kind = (now && kindOf(now)) ?? usual[type] ?? (found.values ? "tree" : "mask");
  // What is typed stays with its kind: the fields, what was last found of them, and the question that is on its way.
  const panes = {};
  const form = h("div");
  const shown = h("div", { "aria-live": "polite" });
  const keep = h("button", { type: "button" }, "Use it");
  const tabs = h("div", { class: "tabs", role: "radiogroup", "aria-label": "Kind of hierarchy" }, Object.entries(kinds).map(([name, title]) => {
    const input = h("input", { type: "radio", name: "kind", value: name, checked: name === kind });
    input.addEventListener("change", () => { forget(panes[kind]); kind = name; draw(); });
    return h("label", { class: "choice" }, input, h("span", {}, title));
  }));

  /** What is typed is no longer what was tried, and an answer on its way is not about it. */
  function forget(pane) {
    pane.asking?.abort();
    pane.asking = null;
  }
  function pane() {
    panes[kind] ??= { ...editors[kind](column, found, now && kindOf(now) === kind ? now : null, rows), tried: null, fault: null, asking: null };
    return panes[kind];
  }
  function draw() {
    const { parts, fields, tried, fault, asking } = pane();
    if (!form.contains(parts[0])) form.replaceChildren(...parts);
    if (asking) shown.replaceChildren(message("waiting", "trying it on all values of the column"));
    else if (fault) shown.replaceChildren(message("bad", fault.what, fault.hint));
    else shown.replaceChildren(...(tried ? [ladder(tried)] : []));
    keep.disabled = !fields || fault !== null;
  }

  /** Try what is typed now; returns what was found, or null if it is wrong or was changed meanwhile. */
  async function attempt() {
    const here = pane();
    if (!here.fields?.reportValidity()) return null;
    forget(here);
    const asking = new AbortController();
    Object.assign(here, { tried: null, fault: null, asking });
    draw();
    let [answer, fault] = [null, null];
    try {
      answer = await here.ask(asking.signal);
    } catch (error) {
      fault = error;
    }
    if (here.asking !== asking) return null;
    Object.assign(here, { tried: answer, fault, asking: null });
    if (fault && !fault.what) here.fault = null;
    draw();
    if (fault && !fault.what) throw fault;
    return answer;
  }
  form.addEventListener("submit", (event) => { event.preventDefault(); guarded(attempt)(); });
  form.addEventListener("input", () => {
    const here = pane();
    forget(here);
    Object.assign(here, { tried: null, fault: null, typed: true });
    draw();
  });

  keep.addEventListener("click", guarded(async () => {
    const tried = pane().tried ?? await attempt();
    if (!tried) return;
    await saving((content) => { content.hierarchies = { ...content.hierarchies, [column]: tried.rule }; });
  }));
  const remove = h("button", { type: "button", class: "second", hidden: !now }, "Remove");
  remove.addEventListener("click", guarded(() => saving((content) => { delete content.hierarchies[column]; })));
  /** Save and close; what is wrong is said here, not behind the dialog. */
  async function saving(work) {
    const fields = [tabs, form];
    for (const each of fields) each.inert = true;
    try {
      await change(work);
      dialog.close();
    } catch (error) {
      for (const each of fields) each.inert = false;
      if (!error.what) throw error;
      shown.replaceChildren(message("bad", error.what, error.hint));
    }
  }
  // A tree takes its time to write; numbers and files are soon given again.
  const leave = () => !panes.tree?.typed || confirm("Leave without the tree that was written here?");
  const cancel = h("button", { type: "button", class: "second" }, "Cancel");
  cancel.addEventListener("click", () => { if (leave()) dialog.close(); });
  dialog.oncancel = (event) => { if (!leave()) event.preventDefault(); };
  dialog.replaceChildren(
    h("h2", { id: "editor-title" }, "Hierarchy of ", h("code", {}, column)),
    h("p", { class: "note" }, "How values become coarser, level by level. Level 0 is the value itself. Quasi-identifiers are published on it; a sensitive attribute's tree says which values are alike."),
    tabs, form, shown, h("div", { class: "foot" }, remove, cancel, keep),
  );
  draw();
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      for (const each of Object.values(panes)) forget(each);
      resolve();
    }, { once: true });
  });
}

const button = (text) => h("button", { type: "submit", class: "second" }, text);
const numbers = (text) => text.split(/[\s,;]+/).filter(Boolean).map(Number);
const address = () => `/tables/${state.table}/hierarchy`;

/** A kind whose fields say a rule: what to show, the form, and how the server is asked what it makes of the values. */
const ruled = (column, fields, rule) => ({ parts: [fields], fields, ask: (signal) => ask("POST", address(), { column, rule: rule() }, { signal }) });

/** What each kind asks for. */
const editors = {
  interval(column, found, now) {
    const widths = h("input", { type: "text", value: now ? [now.interval].flat().join(", ") : "5, 10, 20", inputmode: "decimal", required: true });
    const origin = h("input", { type: "text", value: now?.origin ?? "", placeholder: "0", inputmode: "decimal" });
    return ruled(column, h("form", { class: "fields" },
      h("label", {}, "Widths, from fine to coarse", widths), h("label", {}, "Counted from", origin), button("Try it")),
    () => ({ interval: numbers(widths.value), ...(origin.value.trim() ? { origin: Number(origin.value) } : {}) }));
  },
  mask(column, found, now) {
    const longest = Math.max(1, ...(found.values ?? found.examples).map((value) => value.length));
    const letters = h("input", { type: "number", min: 1, max: 100, step: 1, required: true, value: now?.mask ?? longest });
    return ruled(column, h("form", { class: "fields" }, h("label", {}, "Letters to hide, one by one from the end", letters), button("Try it")),
      () => ({ ...now, mask: Number(letters.value) }));
  },
  date(column, found, now) {
    const chosen = [now?.date ?? ["month", "quarter", "year"]].flat();
    const boxes = ["day", "month", "quarter", "year", "decade"].map((unit) => h("label", { class: "row" }, h("input", { type: "checkbox", value: unit, checked: chosen.includes(unit) }), unit));
    return ruled(column, h("form", { class: "row" }, boxes, button("Try it")),
      () => ({ date: boxes.map((box) => box.firstChild).filter((box) => box.checked).map((box) => box.value) }));
  },
  flat(column) {
    return ruled(column, h("form", {}, h("p", {}, "A value is published as it is, or as *."), button("Try it")), () => ({ flat: true }));
  },
  icd(column, found, now) {
    const dots = h("input", { type: "checkbox", checked: now?.dots ?? true });
    return ruled(column, h("form", { class: "row" }, h("label", { class: "row" }, dots, "Codes are written with a dot: A00.1"), button("Try it")),
      () => ({ icd: 10, dots: dots.checked }));
  },
  tree(column, found, now, saved) {
    if (!found.values) return { parts: [message("info", `${column} has ${count(found.distinct)} values, too many to write a tree by hand`, "a file with one line for each value: value;kind;larger kind")], fields: null };
    // What is saved opens as it was; what was left empty is *, which stands above everything anyhow.
    const above = new Map(saved.map(([value, ...kinds]) => [value, kinds]));
    let depth = Math.max(1, ...saved.map((row) => row.length - 2));
    const body = h("tbody");
    const head = h("tr");
    const redraw = () => {
      head.replaceChildren(h("th", { scope: "col" }, "Value"), ...levels().map((level) => h("th", { scope: "col" }, `belongs to (level ${level})`)));
      for (const row of body.rows) {
        const { value } = row.dataset;
        while (row.cells.length < depth + 1) {
          const level = row.cells.length;
          const written = above.get(value)?.[level - 1] ?? "*";
          row.append(h("td", {}, h("input", { type: "text", "aria-label": `${value}, level ${level}`, list: `of-level-${level}`, value: written === "*" ? "" : written })));
        }
      }
      lists.replaceChildren(...levels().map((level) => h("datalist", { id: `of-level-${level}` })));
      offer();
    };
    const levels = () => Array.from({ length: depth }, (_, at) => at + 1);
    const lists = h("div");
    for (const value of new Set([...found.values, ...above.keys()])) body.append(h("tr", { "data-value": value }, h("th", { scope: "row" }, value)));
    const written = (row, level) => row.cells[level].firstChild.value.trim();
    // Names that were written once are offered for the other values.
    const offer = () => {
      for (const level of levels()) {
        const names = new Set([...body.rows].map((row) => written(row, level)).filter(Boolean));
        lists.querySelector(`#of-level-${level}`).replaceChildren(...[...names].map((name) => h("option", { value: name })));
      }
    };
    body.addEventListener("change", offer);
    const more = h("button", { type: "button", class: "quiet" }, "Add a level");
    more.addEventListener("click", () => { depth += 1; redraw(); });
    redraw();
    // A level on which nothing is written is none.
    const used = () => levels().filter((level) => [...body.rows].some((row) => written(row, level)));
    const rows = () => [...body.rows].map((row) => [row.dataset.value, ...used().map((level) => written(row, level) || "*"), "*"]);
    const fields = h("form", {}, h("div", { class: "tree", tabindex: 0, role: "region", "aria-label": "Values" }, h("table", {}, h("thead", {}, head), body)), lists,
      h("p", { class: "note" }, "Values with the same name belong together; what is left empty belongs to *, which is everything."), h("div", { class: "row" }, button("Try it"), more));
    return { parts: [fields], fields, ask: (signal) => ask("POST", address(), { column, rows: rows() }, { signal }) };
  },
  file(column, found, now) {
    const file = h("input", { type: "file", accept: ".csv,.txt", required: !now });
    const form = h("select", {}, h("option", { value: "leaves" }, "a line for each value: value;kind;larger kind;*"), h("option", { value: "parents", selected: Boolean(now?.parents) }, "a line for each child: child;parent"));
    const fields = h("form", { class: "fields" }, h("label", {}, "File", file), h("label", {}, "It has", form), button("Try it"));
    const kept = h("p", { class: "note" }, "In use: ", h("code", {}, now ? fileOf(now) : ""), ". Choose a file only to replace it.");
    form.addEventListener("change", () => { file.required ||= !file.files[0]; });
    const about = () => new URLSearchParams({ column, form: form.value, name: file.files[0].name });
    return { parts: now ? [kept, fields] : [fields], fields, ask: (signal) => (file.files[0]
      ? ask("POST", `${address()}/file?${about()}`, file.files[0].slice(0, file.files[0].size, "text/csv"), { signal })
      : ask("POST", address(), { column, rule: now }, { signal })) };
  },
};

/** The levels that a hierarchy has, with examples. */
function ladder(found) {
  return h("div", {}, message("good", `consistent, and all ${count(found.levels[0].values)} values of the column are in it`),
    h("ol", { class: "ladder" }, found.levels.map((level) => h("li", {}, h("b", {}, `Level ${level.level}: ${count(level.values)} ${level.values === 1 ? "value" : "values"}`),
      [...new Set(level.examples.map(([, label]) => label))].flatMap((label, at) => [at ? ", " : "", h("span", {}, label)])))));
}
