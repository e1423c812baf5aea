// Step 2: what every group must satisfy, and what this table permits.
import { alarm, ask, change, count, figure, h, later, message, own, proposals, ready, saved, says, state } from "./app.js";
import { Curve, allowed, bound } from "./curve.js";
import { asNumber, controls } from "./parameters.js";

const place = document.getElementById("attributes");
const { catalogue, kinds, profile } = state;
const types = Object.fromEntries(profile.columns.map((column) => [column.name, own(state.content.types, column.name) ?? column.type]));
const NUMBERS = ["integer", "float", "decimal", "date"];

/** The sensitive attributes: columns, or all that begin alike where they are shares of a whole. */
const wholes = Object.fromEntries(profile.columns.map((column) => [column.name, column.part_of ? `${column.part_of}.*` : column.name]));
const attributes = [...new Set((state.content.roles.sensitive ?? []).map((name) => own(wholes, name) ?? name))];

/** What the library knows of an attribute: asked once, when it is first shown. */
const known = new Map();
let turn = Promise.resolve();
const advice = (on) => {
  if (!known.has(on)) {
    // One after the other: each reads the table.
    const answer = turn.then(() => ask("POST", `/tables/${state.table}/advice`, { column: on }));
    turn = answer.catch(() => {});
    known.set(on, answer);
  }
  return known.get(on);
};

// Each entry keeps its identity while it is edited, so that its card does.
const list = (state.content.principle ?? []).map((entry) => normal(structuredClone(entry)));
const cards = new Map();
/** What keeps principles from being asked for together. */
const together = h("div", { role: "status" });

/** Write a relative ε as a number with its flag, however the policy wrote it. */
function normal(entry) {
  if (/^\s*[\d.]+\s*%\s*$/.test(entry.epsilon)) {
    entry.epsilon = Number((parseFloat(entry.epsilon) / 100).toPrecision(12));
    entry.relative = true;
  }
  return entry;
}

const needs = (entry) => catalogue[entry.name]?.needs ?? "values";
const guards = (entry, on) => (entry.on === undefined ? attributes.length === 1 : [entry.on].flat().join("+") === on)
  && !["size", "several"].includes(needs(entry));

const save = later(() => {
  change((content) => { content.principle = list; }).then(judge, refuse);
}, 250);

function refuse(error) {
  const [, number] = /principle (\d+)/.exec(error.what ?? "") ?? [];
  const card = cards.get(list[number - 1]);
  if (card) card.say("bad", error.what.replace(/^.*principle \d+: /, ""), error.hint);
  else alarm(error);
}

let asking = new AbortController();

/** Ask of all principles that no curve answers whether they are possible; the last question counts. */
async function judge() {
  asking.abort();
  await saved(); // what is judged is what is saved
  const snapshot = [...list];
  const open = list.filter((entry) => !cards.get(entry)?.answered() && cards.get(entry)?.judged !== JSON.stringify(entry));
  together.replaceChildren();
  if (!open.length && list.length < 2) return; // one alone is answered by its curve
  const asked = open.map((entry) => JSON.stringify(entry));
  asking = new AbortController();
  for (const entry of open) cards.get(entry)?.say("waiting", "looking whether this is possible");
  try {
    const found = await ask("POST", `/tables/${state.table}/possible`, {}, { signal: asking.signal });
    const kinds_ = { yes: "good", no: "bad", unknown: "caution" };
    if (found.together) {
      const { verdict, what, hint, tries } = found.together;
      together.replaceChildren(message(kinds_[verdict], what, proposals(tries, replace, hint)));
    }
    snapshot.forEach((entry, at) => {
      const { verdict, what, hint, tries } = found.principles[at] ?? {};
      const card = cards.get(entry);
      if (!verdict || !card || !open.includes(entry)) return;
      card.say(kinds_[verdict], verdict === "yes" ? "possible" : what, proposals(tries, replace, hint));
      card.judged = asked[open.indexOf(entry)];
    });
  } catch (error) {
    if (error.name === "AbortError") return;
    for (const entry of open) cards.get(entry)?.say("bad", error.what ?? "that could not be told", error.hint);
  }
}

/** Ask for what was proposed in the place of an entry. */
function replace({ at, entry }) {
  cards.delete(list[at]);
  list[at] = normal(structuredClone(entry));
  save();
  render();
}

/** What an entry asks, in words with its numbers. */
function inWords(entry) {
  const { sentence, title } = catalogue[entry.name];
  if (!sentence) return [title];
  return sentence.split(/(\{\w+\})/).map((part) => {
    const key = /^\{(\w+)\}$/.exec(part)?.[1];
    if (!key) return part;
    if (key === "on") return h("code", {}, [entry.on ?? attributes[0]].flat().join("+"));
    const specification = catalogue[entry.name].parameters.find((each) => each.name === key);
    const value = entry[key] ?? specification?.default;
    if (value == null) return h("b", {}, key === "epsilon" ? "ε" : key);
    const days = cards.get(entry)?.found?.dates && ["epsilon", "delta"].includes(key) ? " days" : "";
    return h("b", {}, entry.relative && key === "epsilon" ? `${figure(Number((asNumber(value) * 100).toPrecision(12)))} %` : figure(value) + days);
  });
}

/** A principle that is asked for: its words, its controls, its curve and the verdict. */
class Card {
  constructor(entry, found) {
    Object.assign(this, { entry, found });
    const { title, protects, does_not_protect: not, reference } = catalogue[entry.name];
    this.words = h("p", { class: "words" });
    this.verdict = h("div", { role: "status" });
    this.drawn = h("div", { class: "curve", hidden: true });
    this.inputs = h("div");
    const remove = h("button", { type: "button", class: "quiet" }, "Remove", h("span", { class: "unseen" }, ` ${title}`));
    remove.addEventListener("click", () => {
      list.splice(list.indexOf(entry), 1);
      cards.delete(entry);
      this.element.remove();
      save();
      render();
    });
    this.element = h("article", { class: "asked", "data-principle": entry.name },
      h("header", {}, h("h3", {}, title), entry.name === title ? null : h("span", { class: "note" }, h("code", {}, entry.name)), remove),
      this.words,
      this.beside = h("div", { class: "beside" }, h("div", {}, this.inputs, this.verdict), this.drawn),
      h("details", {}, h("summary", {}, "What it does, and what not"),
        h("p", {}, h("b", {}, "Protects against: "), protects), h("p", {}, h("b", {}, "Not against: "), not), h("p", { class: "note" }, reference)));
    this.rebuild();
  }

  /** The curve that answers for this entry: its steps in the entry's own unit, or null. */
  get curve() {
    const { entry, found } = this;
    if (!found?.numeric || entry.e1 != null || entry.e2 != null) return null;
    if (entry.name === "epsilon-m") {
      const kind = entry.relative ? "relative" : "absolute";
      return found[kind] && { steps: found[kind], spec: found.spec[kind], near: "epsilon", among: "m", letters: ["ε", "m"], relative: Boolean(entry.relative) };
    }
    if (entry.name === "delta-l" && found.absolute) {
      const steps = found.absolute.map(([most, m]) => [most === null ? null : most / 2, m]);
      return { steps, spec: found.spec.halved, near: "delta", among: "l", letters: ["δ", "l"], relative: false };
    }
    return null;
  }

  /** Whether the curve answers at once, so that nobody need be asked. */
  answered() {
    const { curve, entry } = this;
    return Boolean(curve && Number.isInteger(entry[curve.among]) && typeof entry[curve.near] === "number");
  }

  rebuild() {
    this.controls = controls(this.entry, catalogue[this.entry.name], this.found, this.curve, (key, value) => this.set({ [key]: value }, key));
    this.inputs.replaceChildren(...this.controls.shown);
    this.draw();
    this.update();
  }

  set(values, key) {
    for (const [name, value] of Object.entries(values)) {
      if (value === null || value === "") delete this.entry[name];
      else this.entry[name] = value;
    }
    if (key === "relative") this.suggest();
    if (key === "relative") this.rebuild();
    else this.update();
    save();
  }

  /** An ε of 500 is no share, and one of 0.1 no distance: begin anew where the meaning changes. */
  suggest() {
    const { curve, entry } = this;
    const most = curve && bound(curve.steps, entry.m ?? 2);
    if (!curve) return;
    const half = most === null ? (curve.relative ? 0.5 : 1) : most / 2;
    entry.epsilon = Number(half.toPrecision(1)) || Number(half.toPrecision(2));
  }

  async draw() {
    const { curve } = this;
    this.drawn.hidden = !curve?.spec;
    this.beside.classList.toggle("pictured", Boolean(curve?.spec));
    if (!curve?.spec) return;
    this.point ??= new Curve(this.drawn, { onmove: (at) => {
      const { near, among } = this.curve;
      this.set({ [near]: at.epsilon, [among]: at.m });
      this.controls.follow();
    } });
    const grain = !curve.relative && ["integer", "date"].includes(types[this.found.column]) ? 1 : 0;
    const unit = this.found.dates ? "days" : null;
    await this.point.show({ ...curve, on: this.found.column, grain, unit }, this.at(curve));
  }

  at(curve) {
    return { epsilon: asNumber(this.entry[curve.near]) || 0, m: asNumber(this.entry[curve.among]) || 1 };
  }

  update() {
    this.words.replaceChildren(...inWords(this.entry));
    const { curve } = this;
    if (curve && this.point) this.point.move(this.at(curve));
    if (this.answered()) this.judgeByCurve(curve);
  }

  judgeByCurve({ steps, near, among, letters: [letter], relative }) {
    const [reach, crowd] = [this.entry[near], this.entry[among]];
    const [most, least] = [allowed(steps, reach), bound(steps, crowd)];
    const days = this.found.dates ? " days" : "";
    const as = (value) => (relative ? `${figure(floored(value * 100, 4))} %` : figure(floored(value, 6)) + days);
    const below = least === null ? `any ${letter} will do` : least === 0 ? `no ${letter} will do` : `${letter} must stay below ${as(least)}`;
    if (crowd <= most) {
      this.say("good", `Possible. With ${letter} = ${as(reach)}, ${among} may be up to ${count(most)}; with ${among} = ${crowd}, ${below}.`);
    } else {
      const nearest = least ? belowOf(least) : 0;
      const tries = [most > 1 ? { words: `${among} = ${most}`, set: { [among]: most } } : null,
        nearest > 0 ? { words: `${letter} = ${as(nearest)}`, set: { [near]: nearest } } : null].filter(Boolean);
      this.say("bad", `Impossible for this table, however it is grouped: with ${letter} = ${as(reach)}, ${among} may be at most ${count(most)}; with ${among} = ${crowd}, ${below}.`,
        proposals(tries, (one) => { this.set(one.set); this.controls.follow(); }));
    }
  }

  say(kind, what, hint = null) {
    this.verdict.replaceChildren(says(kind, what, hint));
  }
}

/** So many digits, rounded down if at all: what is below the figure is below the bound. */
function floored(value, digits) {
  const near = Number(value.toPrecision(digits));
  const unit = 10 ** (Math.floor(Math.log10(value || 1)) - digits + 1);
  return near <= Number(value.toPrecision(14)) ? near : Number((near - unit).toPrecision(digits));
}

/** A short number below a bound. */
function belowOf(bound_) {
  const near = floored(bound_, 3);
  return near < bound_ ? near : floored(bound_ - 10 ** (Math.floor(Math.log10(bound_)) - 2), 3);
}

/** Which kind of thing an attribute seems to be. */
function kindOf(on, found) {
  if (found?.tree) return "tree";
  if (found?.vector || on.endsWith(".*")) return "anything";
  return NUMBERS.includes(own(types, on)) ? "numbers" : "categories";
}

/** The chooser in plain words. */
function chooser(on, found, open) {
  const chosen = kindOf(on, found);
  const select = h("select", { "aria-label": "Principle" });
  const fill = (kind) => select.replaceChildren(...kinds[kind].principles.map((name) => h("option", { value: name }, `${catalogue[name].title} – ${catalogue[name].protects}`)),
    h("optgroup", { label: "Others" }, Object.values(catalogue).filter((each) => !["size", "several"].includes(each.needs) && !kinds[kind].principles.includes(each.name))
      .map((each) => h("option", { value: each.name }, `${each.title} – ${each.protects}`))));
  fill(chosen);
  // Only one principle whose groups are dealt can be asked for: then the other one for numbers.
  if (chosen === "numbers" && list.some((entry) => ["epsilon-m", "l-e", "dissimilarity"].includes(entry.name))) select.value = "delta-l";
  const cardsOf = Object.entries(kinds).map(([kind, { title, words }]) => {
    const input = h("input", { type: "radio", name: `kind-${on}`, value: kind, checked: kind === chosen });
    input.addEventListener("change", () => fill(kind));
    return h("label", { class: "choice" }, input, h("span", {}, h("strong", {}, title), h("span", { class: "note" }, words)));
  });
  const add = h("button", { type: "button" }, "Add");
  add.addEventListener("click", () => { list.push(proposed(select.value, on, found)); save(); render(); });
  return h("details", { open }, h("summary", {}, `Protect ${on}${open ? "" : " further"}`),
    h("fieldset", { class: "cards" }, h("legend", { class: "unseen" }, `What is ${on}?`), cardsOf), h("div", { class: "row" }, select, add));
}

/** A principle with parameters to begin with: such as this table permits, where that is known. */
function proposed(name, on, found) {
  const entry = { name, ...(["size", "several"].includes(catalogue[name].needs) ? {} : { on }) };
  const usual = { k: 5, l: 2, m: 5, c: 3, t: 0.3, alpha: 0.5, e: 1, delta: 0.8, epsilon: 1 };
  for (const { name: key, required, low } of catalogue[name].parameters) {
    if (required) entry[key] = usual[key] ?? low ?? 1;
  }
  if (name === "epsilon-m" || name === "delta-l") {
    const [near, among, share] = name === "epsilon-m" ? ["epsilon", "m", 1] : ["delta", "l", 2];
    const steps = found?.absolute ?? [];
    entry[among] = Math.max(2, Math.min(5, ...steps.map(([, m]) => m).slice(-1)));
    const most = bound(steps, entry[among]);
    entry[near] = most ? Number((most / 2 / share).toPrecision(1)) || most / 2 / share : 1;
  }
  if (name === "dissimilarity") Object.assign(entry, { k: 5, epsilon: on.endsWith(".*") ? 0.1 : 1 });
  return entry;
}

function cardOf(entry, found) {
  if (!cards.has(entry)) cards.set(entry, new Card(entry, found));
  return cards.get(entry).element;
}

function whoseRow() {
  const asked = list.filter((entry) => ["size", "several"].includes(needs(entry)));
  const add = h("button", { type: "button", class: "second" }, "Hide everybody among k people");
  add.addEventListener("click", () => { list.unshift({ name: "k-anonymity", k: 5 }); save(); render(); });
  const several = h("button", { type: "button", class: "quiet" }, "Guard several attributes together");
  several.addEventListener("click", () => { list.push({ ...proposed("multi-attribute-l", null), on: attributes }); save(); render(); });
  return h("section", { class: "card", "aria-labelledby": "whose" }, h("h2", { id: "whose" }, "Whose row is it?"),
    asked.map((entry) => cardOf(entry, null)),
    h("div", { class: "row" }, asked.some((entry) => entry.name === "k-anonymity") ? null : add,
      attributes.length > 1 && catalogue["multi-attribute-l"] && !asked.some((entry) => needs(entry) === "several") ? several : null));
}

function section(on, at) {
  const body = h("div", {}, message("waiting", `working out what ${on} permits`));
  advice(on).then((found) => {
    const asked = list.filter((entry) => guards(entry, on));
    body.replaceChildren(
      ...(asked.length ? [] : [message("caution", `nothing protects ${on} yet`, "choose below what it is")]),
      ...asked.map((entry) => cardOf(entry, found)),
      ...(found.missing ? [h("p", { class: "note" }, `${count(found.missing)} of ${count(found.rows)} values are missing: missing counts as a value of its own, far from every other.`)] : []),
      chooser(on, found, !asked.length));
  }, (error) => body.replaceChildren(message("bad", error.what ?? "this attribute could not be looked at", error.hint)));
  return h("section", { class: "card attribute", "aria-labelledby": `on-${at}` },
    h("h2", { id: `on-${at}` }, "What is somebody’s ", h("code", {}, on), "?"), body);
}

function render() {
  const astray = list.filter((entry) => !["size", "several"].includes(needs(entry)) && !attributes.some((on) => guards(entry, on)));
  const shown = [whoseRow(), ...attributes.map(section)];
  if (!attributes.length) {
    shown.push(h("section", { class: "card calm" }, message("caution", "no column is sensitive, so only group sizes can be protected", "give that role to a column in step 1")));
  }
  if (astray.length) {
    shown.push(h("section", { class: "card" }, h("h2", {}, "On other attributes"), astray.map((entry) => cardOf(entry, null))));
  }
  place.replaceChildren(...shown, together);
  // What the curves do not answer is asked, as soon as it is known which they answer.
  Promise.allSettled(attributes.map(advice)).then(() => judge());
}

render();
ready();
