// The small editor of hierarchies: intervals, masks, dates, trees; tried on the column before it is kept.
import { ask, change, count, guarded, h, message, own, state } from "./app.js";

const dialog = document.getElementById("editor");
const kinds = {
  interval: "Intervals",
  mask: "Masks",
  date: "Dates",
  flat: "All or nothing",
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

/** Let a column's hierarchy be edited; resolves when the dialog is closed. */
export function edit(column) {
  const found = state.profile.columns.find((each) => each.name === column);
  const now = own(state.content.hierarchies, column);
  const type = own(state.content.types, column) ?? found.type;
  const kindOf = (rule) => (typeof rule === "string" ? "file" : Object.keys(kinds).find((kind) => kind in rule));
  let kind = (now && kindOf(now)) ?? usual[type] ?? (found.values ? "tree" : "mask");
  let tried = null;
  const form = h("div");
  const shown = h("div", { "aria-live": "polite" });
  const keep = h("button", { type: "button", disabled: true }, "Use it");
  const tabs = h("div", { class: "tabs", role: "radiogroup", "aria-label": "Kind of hierarchy" }, Object.entries(kinds).map(([name, title]) => {
    const input = h("input", { type: "radio", name: "kind", value: name, checked: name === kind });
    input.addEventListener("change", () => { kind = name; draw(); });
    return h("label", { class: "choice" }, input, h("span", {}, title));
  }));

  const attempt = guarded(async (asked) => {
    tried = null;
    keep.disabled = true;
    shown.replaceChildren(message("waiting", "trying it on all values of the column"));
    try {
      tried = await asked();
    } catch (error) {
      shown.replaceChildren();
      if (!error.what) throw error;
      shown.replaceChildren(message("bad", error.what, error.hint));
      return;
    }
    keep.disabled = false;
    shown.replaceChildren(ladder(tried));
  });
  const tryRule = (rule) => attempt(() => ask("POST", `/tables/${state.table}/hierarchy`, { column, rule }));

  function draw() {
    tried = null;
    keep.disabled = true;
    shown.replaceChildren();
    form.replaceChildren(...editors[kind](column, found, now && kindOf(now) === kind ? now : null, tryRule, attempt));
  }
  keep.addEventListener("click", guarded(async () => {
    await change((content) => { content.hierarchies = { ...content.hierarchies, [column]: tried.rule }; });
    dialog.close();
  }));
  const remove = h("button", { type: "button", class: "second", hidden: !now }, "Remove");
  remove.addEventListener("click", guarded(async () => {
    await change((content) => { delete content.hierarchies[column]; });
    dialog.close();
  }));
  // A tree takes its time to write; numbers and files are soon given again.
  const leave = () => ![...form.querySelectorAll(".tree input")].some((input) => input.value) || confirm("Leave without the tree that was written here?");
  const cancel = h("button", { type: "button", class: "second" }, "Cancel");
  cancel.addEventListener("click", () => { if (leave()) dialog.close(); });
  dialog.oncancel = (event) => { if (!leave()) event.preventDefault(); };
  dialog.replaceChildren(
    h("h2", { id: "editor-title" }, "Hierarchy of ", h("code", {}, column)),
    h("p", { class: "note" }, "How values become coarser, level by level. Quasi-identifiers are published on it; a sensitive attribute's tree says which values are alike."),
    tabs, form, shown, h("div", { class: "foot" }, remove, cancel, keep),
  );
  draw();
  dialog.showModal();
  return new Promise((resolve) => { dialog.addEventListener("close", () => resolve(), { once: true }); });
}

const button = (text) => h("button", { type: "submit", class: "second" }, text);
const onsubmit = (form, work) => {
  form.addEventListener("submit", (event) => { event.preventDefault(); work(); });
  return form;
};
const numbers = (text) => text.split(/[\s,;]+/).filter(Boolean).map(Number);

/** What each kind asks for. */
const editors = {
  interval(column, found, now, tryRule) {
    const widths = h("input", { type: "text", value: now ? [now.interval].flat().join(", ") : "5, 10, 20", inputmode: "decimal", required: true });
    const origin = h("input", { type: "text", value: now?.origin ?? "", placeholder: "0", inputmode: "decimal" });
    return [onsubmit(h("form", { class: "fields" },
      h("label", {}, "Widths, from fine to coarse", widths), h("label", {}, "Counted from", origin), button("Try it")),
    () => tryRule({ interval: numbers(widths.value), ...(origin.value.trim() ? { origin: Number(origin.value) } : {}) }))];
  },
  mask(column, found, now, tryRule) {
    const longest = Math.max(1, ...(found.values ?? found.examples).map((value) => value.length));
    const letters = h("input", { type: "number", min: 1, max: 100, step: 1, required: true, value: now?.mask ?? longest });
    return [onsubmit(h("form", { class: "fields" }, h("label", {}, "Letters to hide, one by one from the end", letters), button("Try it")),
      () => tryRule({ mask: Number(letters.value) }))];
  },
  date(column, found, now, tryRule) {
    const chosen = [now?.date ?? ["month", "quarter", "year"]].flat();
    const boxes = ["week", "month", "quarter", "year"].map((unit) => h("label", { class: "row" }, h("input", { type: "checkbox", value: unit, checked: chosen.includes(unit) }), unit));
    return [onsubmit(h("form", { class: "row" }, boxes, button("Try it")),
      () => tryRule({ date: boxes.map((box) => box.firstChild).filter((box) => box.checked).map((box) => box.value) }))];
  },
  flat(column, found, now, tryRule) {
    return [onsubmit(h("form", {}, h("p", {}, "A value is published as it is, or as *."), button("Try it")), () => tryRule({ flat: true }))];
  },
  tree(column, found, now, tryRule, attempt) {
    if (!found.values) return [message("info", `${column} has ${count(found.distinct)} values, too many to write a tree by hand`, "a file with one line for each value: value;kind;larger kind")];
    let depth = 1;
    const body = h("tbody");
    const head = h("tr");
    const redraw = () => {
      head.replaceChildren(h("th", { scope: "col" }, "Value"), ...levels().map((level) => h("th", { scope: "col" }, `belongs to (level ${level})`)));
      for (const row of body.rows) {
        while (row.cells.length < depth + 1) {
          row.append(h("td", {}, h("input", { type: "text", "aria-label": `${row.dataset.value}, level ${row.cells.length}`, list: `of-level-${row.cells.length}` })));
        }
      }
      lists.replaceChildren(...levels().map((level) => h("datalist", { id: `of-level-${level}` })));
    };
    const levels = () => Array.from({ length: depth }, (_, at) => at + 1);
    const lists = h("div");
    for (const value of found.values) body.append(h("tr", { "data-value": value }, h("th", { scope: "row" }, value)));
    // Names that were written once are offered for the other values.
    body.addEventListener("change", () => {
      for (const level of levels()) {
        const names = new Set([...body.rows].map((row) => row.cells[level].firstChild.value.trim()).filter(Boolean));
        lists.querySelector(`#of-level-${level}`).replaceChildren(...[...names].map((name) => h("option", { value: name })));
      }
    });
    const more = h("button", { type: "button", class: "quiet" }, "Add a level");
    more.addEventListener("click", () => { depth += 1; redraw(); });
    redraw();
    const written = (row, level) => row.cells[level].firstChild.value.trim();
    // A level on which nothing is written is none.
    const used = () => levels().filter((level) => [...body.rows].some((row) => written(row, level)));
    const rows = () => [...body.rows].map((row) => [row.dataset.value, ...used().map((level) => written(row, level) || "*"), "*"]);
    return [onsubmit(h("form", {}, h("div", { class: "tree", tabindex: 0, role: "region", "aria-label": "Values" }, h("table", {}, h("thead", {}, head), body)), lists,
      h("p", { class: "note" }, "Values with the same name belong together; what is left empty belongs to *, which is everything."), h("div", { class: "row" }, button("Try it"), more)),
    () => attempt(() => ask("POST", `/tables/${state.table}/hierarchy`, { column, rows: rows() })))];
  },
  file(column, found, now, tryRule, attempt) {
    const file = h("input", { type: "file", accept: ".csv,.txt", required: true });
    const form = h("select", {}, h("option", { value: "leaves" }, "a line for each value: value;kind;larger kind;*"), h("option", { value: "parents" }, "a line for each child: child;parent"));
    return [onsubmit(h("form", { class: "fields" }, h("label", {}, "File", file), h("label", {}, "It has", form), button("Try it")),
      () => attempt(() => ask("POST", `/tables/${state.table}/hierarchy/file?column=${encodeURIComponent(column)}&form=${form.value}`, file.files[0].slice(0, file.files[0].size, "text/csv"))))];
  },
};

/** The levels that a hierarchy has, with examples. */
function ladder(found) {
  return h("div", {}, message("good", `consistent, and all ${count(found.leaves)} values are in it`),
    h("ol", { class: "ladder" }, found.levels.map((level) => h("li", {}, h("b", {}, `Level ${level.level}: ${count(level.values)} ${level.values === 1 ? "value" : "values"}`),
      [...new Set(level.examples.map(([, label]) => label))].flatMap((label, at) => [at ? ", " : "", h("span", {}, label)])))));
}
