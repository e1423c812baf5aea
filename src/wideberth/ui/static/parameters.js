// The controls of a principle's parameters: a slider with a number box, a tick, a choice.
import { figure, h } from "./app.js";
import { bound } from "./curve.js";

let serial = 0;

/** A policy may write a number as 5/6. */
export function asNumber(value) {
  const [, above, below] = /^\s*(\d+)\s*\/\s*(\d+)\s*$/.exec(String(value)) ?? [];
  return above ? above / below : Number(value);
}

/** From where to where a slider goes; what is beyond can still be typed. */
function reach(entry, parameter, found, curve) {
  const { name, kind, low, high, stronger } = parameter;
  if (curve && name === curve.near) {
    const most = bound(curve.steps, 2) ?? (curve.relative ? 1 : (found.high - found.low) || 1);
    return { min: 0, max: nice(curve.relative ? Math.min(most * 1.1, 1) : most * 1.1 || 1), fine: true };
  }
  if (curve && name === curve.among) return { min: 1, max: Math.max(10, Math.min(50, curve.steps.at(-1)[1] + 2)), step: 1 };
  if (kind === "whole") return { min: low ?? 1, max: name === "k" ? 50 : 20, step: 1 };
  if (high !== null) return { min: low ?? 0, max: high, step: (high - (low ?? 0)) / 100 };
  const limit = (found?.limits ?? []).find((each) => each.name === entry.name && each.parameter === name)?.value;
  if (stronger === "higher" && limit) return { min: low ?? 0, max: nice(limit * 1.2), fine: true };
  return { min: low ?? 0, max: name === "epsilon" && found?.high != null ? nice(found.high - found.low) : 10, step: 0.1 };
}

/** The next round number above. */
function nice(number) {
  const unit = 10 ** Math.floor(Math.log10(number || 1));
  return Number((Math.ceil((number / unit) * 10) / 10 * unit).toPrecision(6));
}

/** Three digits that matter: what a slider is good for. */
const round = (number) => Number(number.toPrecision(3));

function numeric(entry, parameter, found, curve, set) {
  const { name, kind, doc } = parameter;
  const share = curve?.relative && name === "epsilon";
  const id = `parameter-${serial += 1}`;
  const range = reach(entry, parameter, found, curve);
  const value = () => asNumber(entry[name] ?? parameter.default ?? range.min);
  const slider = h("input", { type: "range", min: range.min, max: range.max, step: range.fine ? range.max / 1000 : range.step, "aria-label": `${name}: ${doc}`, value: value() });
  const box = h("input", { type: "number", id, step: kind === "whole" ? 1 : "any", min: kind === "whole" ? parameter.low : null });
  const shown = (number) => (share ? Number((number * 100).toPrecision(12)) : number);
  const show = () => {
    const now = value();
    if (document.activeElement !== box) box.value = shown(now);
    slider.value = now;
    slider.setAttribute("aria-valuetext", share ? `${shown(now)} %` : figure(now));
  };
  slider.addEventListener("input", () => {
    set(name, kind === "whole" ? Number(slider.value) : round(Number(slider.value)));
    box.value = shown(value());
  });
  box.addEventListener("input", () => {
    const typed = box.valueAsNumber;
    if (Number.isNaN(typed)) return;
    set(name, share ? Number((typed / 100).toPrecision(12)) : typed);
    show();
  });
  box.addEventListener("blur", show);
  show();
  return { element: h("div", { class: "control" }, h("label", { for: id }, h("b", {}, letters[name] ?? name), ` – ${doc}`), slider, h("span", { class: "row" }, box, share ? "%" : null)), show };
}

const letters = { epsilon: "ε", delta: "δ", alpha: "α" };

function other(entry, parameter, set) {
  const { name, kind, doc, choices, default: usual } = parameter;
  const id = `parameter-${serial += 1}`;
  const value = entry[name] ?? usual;
  if (kind === "flag") {
    const box = h("input", { type: "checkbox", id, checked: value === true });
    box.addEventListener("change", () => set(name, box.checked || null));
    return h("div", { class: "control flag" }, h("label", { for: id }, `${name} – ${doc}`), box);
  }
  let input;
  if (kind === "choice" || kind === "metric") {
    input = h("select", { id }, choices.map((each) => h("option", { selected: each === value }, each)));
    input.addEventListener("change", () => set(name, input.value === usual ? null : input.value));
  } else if (kind === "values") {
    input = h("input", { type: "text", id, value: [value ?? []].flat().join(" | "), placeholder: "values, with | between them" });
    input.addEventListener("change", () => {
      const named = input.value.split("|").map((each) => each.trim()).filter(Boolean);
      set(name, named.length ? named : null);
    });
  } else {
    input = h("input", { type: "number", id, step: kind === "whole" ? 1 : "any", value: value ?? "", placeholder: "none" });
    input.addEventListener("input", () => set(name, input.value === "" ? null : input.valueAsNumber));
  }
  return h("div", { class: "control bare" }, h("label", { for: id }, `${name} – ${doc}`), input);
}

/** The controls of an entry, what must be said first, and how they follow what was moved elsewhere. */
export function controls(entry, principle, found, curve, set) {
  const isNumber = (parameter) => ["whole", "number"].includes(parameter.kind);
  // ε of (ε,m) may be left out for e1 and e2, k of dissimilarity has a default: yet both matter.
  const first = principle.parameters.filter((each) => isNumber(each) && (each.required || (entry[each.name] ?? null) !== null || (each.name === "epsilon" && entry.e1 == null)));
  const flags = principle.parameters.filter((each) => each.name === "relative" || each.kind === "metric");
  // e1 and e2 take the place of ε: a policy may have them, here they would only confuse.
  const rest = principle.parameters.filter((each) => !first.includes(each) && !flags.includes(each) && !["e1", "e2"].includes(each.name));
  const sliders = first.map((each) => numeric(entry, each, found, curve, set));
  const shown = [...sliders.map((each) => each.element), ...flags.map((each) => other(entry, each, set))];
  if (rest.length) shown.push(h("details", {}, h("summary", {}, "More parameters"), rest.map((each) => other(entry, each, set))));
  return { shown, follow: () => sliders.forEach((each) => each.show()) };
}
