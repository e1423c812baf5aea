// The trade-off of ε and m with a point that moves: by mouse or finger, by arrow keys, or by move().
// What can be had is known exactly: steps [bound, m] as `Advice.curve` gives them, from m = 1 up.
// Any ε below the bound of a step permits m up to that of the step; the bound itself does not. An
// infinite bound is null.

import { draw } from "./charts.js";

/** Return the largest m that is possible with an ε; 0 if the steps permit none. */
export function allowed(steps, epsilon) {
  let most = 0;
  for (const [below, m] of steps) {
    if (epsilon >= 0 && (below === null || epsilon < below)) most = Math.max(most, m);
  }
  return most;
}

/** Return what ε must stay below for an m: null if any will do, 0 if none will. */
export function bound(steps, m) {
  let widest = 0;
  for (const [below, most] of steps) {
    if (most < m) continue;
    if (below === null) return null;
    widest = Math.max(widest, below);
  }
  return widest;
}

/** Return the ends and corners of the line, as `charts.tradeoff` draws it. */
function corners(steps, [left, right]) {
  const always = Math.max(1, ...steps.filter(([below]) => below === null).map(([, m]) => m));
  const finite = steps.filter(([below]) => below !== null).sort((a, b) => a[0] - b[0]);
  const first = finite.length ? finite[0][1] : always;
  const last = finite.length ? finite[finite.length - 1][0] : left;
  return [[left, first], ...finite, [last, always], [right, always]].map(([epsilon, m]) => ({
    epsilon,
    m,
  }));
}

// Whose listeners an element has: one curve's at a time.
const listening = new WeakMap();

const STEPS = [1, 2, 5, 10];
const LETTER = 6.9; // how wide a letter is at most, on average
const LINE = 14;

/** Return the largest of 1, 2, 5, 10, 20, … (or 0.5, 0.2, …) that is not above a size. */
function pleasant(size) {
  const power = 10 ** Math.floor(Math.log10(size));
  return STEPS.findLast((step) => step * power <= size * (1 + 1e-9)) * power;
}

/** Drop what floating point adds: 0.30000000000000004 is 0.3. */
const clean = (number) => Number(number.toPrecision(12));
const within = (number, [low, high]) => Math.min(Math.max(number, low), high);

/** Write a number as `wording.figure` does: few digits, thousands apart. */
function figure(number, round = Math.round) {
  if (Number.isInteger(number)) return number.toLocaleString("en-US");
  const unit = 10 ** (Math.abs(number) >= 1000 ? -1 : Math.floor(Math.log10(Math.abs(number))) - 3);
  // Rounded down, 4.35 must not become 4.349 because of how floats divide.
  const rounded = clean(round(clean(number / unit)) * unit);
  return rounded.toLocaleString("en-US", { maximumSignificantDigits: 12 });
}

export class Curve {
  /**
   * @param {HTMLElement} element - What becomes the picture; it takes part in the order of tabs.
   * @param {object} options
   * @param {function({epsilon: number, m: number})} [options.onmove] - Told of every move that a
   *   person makes here, not of those by `move`.
   */
  constructor(element, { onmove = () => {} } = {}) {
    this.element = element;
    this.onmove = onmove;
    this.view = null;
    /** How many milliseconds the last redraw took. */
    this.lastRedraw = null;
    element.classList.add("curve");
    element.tabIndex = 0;
    element.setAttribute("role", "slider");
    listening.get(element)?.abort();
    const listener = new AbortController();
    listening.set(element, listener);
    const on = (name, act) => element.addEventListener(name, act, { signal: listener.signal });
    on("pointerdown", (event) => this.#hold(event));
    on("pointermove", (event) => this.#drag(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      on(end, () => element.classList.remove("held"));
    }
    on("keydown", (event) => this.#press(event));
  }

  /**
   * Draw a trade-off and a point. The axes are then as they are, wherever the point goes.
   *
   * @param {object} told
   * @param {object} told.spec - Of `charts.tradeoff(…, movable=True)`.
   * @param {Array} told.steps - [[bound or null, m], …].
   * @param {string} told.on - The attribute.
   * @param {boolean} [told.relative] - Whether ε is a share.
   * @param {?string} [told.unit] - What is written behind an ε, as "days".
   * @param {string[]} [told.letters] - What the two are called.
   * @param {number} [told.grain] - The least step of ε that means something: 1 for whole numbers.
   * @param {{epsilon: number, m: number}} point
   */
  async show({ spec, steps, on, relative = false, unit = null, letters = ["ε", "m"], grain = 0 }, point) {
    const asked = Symbol(on);
    Object.assign(this, { asked, steps, relative, unit, letters, grain, view: null });
    const { x, y } = spec.layer[0].encoding;
    this.wide = { domain: x.scale.domain, log: x.scale.type === "log" };
    this.high = { domain: y.scale.domain };
    const [near, among] = letters;
    this.element.setAttribute(
      "aria-label",
      `${near} and ${among} of ${on}: arrow keys left and right change ${near}, up and down ${among}`,
    );
    this.ends = this.#ends();
    this.element.setAttribute("aria-valuemin", this.ends[0]);
    this.element.setAttribute("aria-valuemax", this.ends[1]);
    this.point = { ...point };
    const datasets = { curve: corners(steps, this.wide.domain), chosen: [] };
    const view = await draw(this.element, { ...spec, datasets });
    if (this.asked !== asked) return; // another one was asked for meanwhile
    this.view = view;
    await this.#redraw();
  }

  /** Move the point; it may be where nothing is possible, and off the axes. */
  move({ epsilon, m }) {
    this.point = { epsilon, m };
    return this.#redraw();
  }

  /** Whether the point can be had. */
  get possible() {
    return this.point.m <= allowed(this.steps, this.point.epsilon);
  }

  /** Return the least and the largest plain ε between the ends of the axis. */
  #ends() {
    const [left, right] = this.wide.domain;
    const least = left && Math.max(pleasant(left / 20), this.grain);
    const step = Math.max(pleasant(right / 50), this.grain);
    const most = clean(Math.floor(right / step) * step);
    return [left && clean(Math.ceil(left / least) * least), this.relative ? Math.min(most, 1) : most];
  }

  async #redraw() {
    if (this.steps) this.#tell();
    if (!this.view) return; // `show` will
    const begun = performance.now();
    await this.view.data("chosen", [this.#drawn()]).runAsync();
    this.lastRedraw = performance.now() - begun;
  }

  /** Say how far ε reaches, as `wording.reach` does. */
  #reach(epsilon, round = Math.round) {
    if (this.relative) return `${figure(clean(100 * epsilon), round)}\u00a0%`;
    return figure(epsilon, round) + (this.unit ? ` ${this.unit}` : "");
  }

  #said() {
    const [near, among] = this.letters;
    return `${near} = ${this.#reach(this.point.epsilon)}, ${among} = ${figure(this.point.m)}`;
  }

  /** Keep what is read out up to date. */
  #tell() {
    const [near, among] = this.letters;
    const most = allowed(this.steps, this.point.epsilon);
    const below = bound(this.steps, this.point.m);
    const said = [`${this.#said()}: ${this.possible ? "possible" : "not possible"}`];
    if (most) said.push(`with this ${near}, ${among} can be up to ${figure(most)}`);
    if (below) said.push(`with this ${among}, ${near} must stay below ${this.#reach(below, Math.floor)}`);
    this.element.setAttribute("aria-valuenow", within(this.point.epsilon, this.ends));
    this.element.setAttribute("aria-valuetext", said.join("; "));
  }

  /** Return the row of the point: where it is drawn, what is written beside it, and where. */
  #drawn() {
    const { epsilon, m } = this.point;
    const at = { epsilon: within(epsilon, this.wide.domain), m: within(m, this.high.domain) };
    const [x, y] = [this.view.scale("x")(at.epsilon), this.view.scale("y")(at.m)];
    const [width, height] = [this.view.signal("width"), this.view.signal("height")];
    const refused = !this.possible;
    const off = at.epsilon !== epsilon || at.m !== m ? " (off the axes)" : "";
    const text = [this.#said() + off];
    const most = allowed(this.steps, epsilon);
    if (refused) text.push(most ? `not possible: ${this.letters[1]} up to ${figure(most)}` : "not possible");
    const long = LETTER * Math.max(...text.map((line) => line.length));
    // What is not possible has its room on the right, away from the line.
    const after = refused || x < width / 2 ? x + 9 + long <= width : x - 9 - long < 0;
    // What is possible lies below the line, and so does its text, if there is room.
    const tall = 7 + LINE * text.length;
    const under = y + tall <= height && (!refused || y - tall < 0);
    return {
      ...at,
      refused,
      text,
      align: after ? "left" : "right",
      dx: after ? 9 : -9,
      baseline: "top",
      dy: under ? 7 : -tall,
    };
  }

  #hold(event) {
    if (!this.view || event.button) return;
    this.element.setPointerCapture(event.pointerId);
    this.element.classList.add("held");
    this.#drag(event);
  }

  #drag(event) {
    if (!this.view || !this.element.classList.contains("held")) return;
    const frame = this.element.querySelector("svg .role-frame.root > g");
    const to = new DOMPoint(event.clientX, event.clientY).matrixTransform(
      frame.getScreenCTM().inverse(),
    );
    this.#moved(
      this.#rounded("x", within(to.x, [0, this.view.signal("width")]), this.grain),
      Math.max(1, this.#rounded("y", within(to.y, [0, this.view.signal("height")]), 1)),
    );
  }

  /** Return the plainest number that a pixel stands for. */
  #rounded(axis, pixel, grain) {
    const scale = this.view.scale(axis);
    const [value, next] = [scale.invert(pixel), scale.invert(pixel + 1)];
    const step = Math.max(pleasant(Math.abs(next - value)), grain);
    return clean(Math.round(value / step) * step);
  }

  #press(event) {
    if (!this.view || event.ctrlKey || event.altKey || event.metaKey) return;
    const { epsilon, m } = this.point;
    const [left, right] = this.ends;
    const top = Math.floor(this.high.domain[1]);
    const by = event.shiftKey ? 10 : 1;
    const size = this.wide.log ? 0.04 * Math.max(epsilon, left) : (right - left) / 100;
    const step = Math.max(pleasant(size * by), this.grain);
    const [under, over] = [Math.ceil(epsilon / step - 1e-9) - 1, Math.floor(epsilon / step + 1e-9) + 1];
    const to = {
      ArrowLeft: () => [Math.min(epsilon, Math.max(under * step, left)), m],
      ArrowRight: () => [Math.max(epsilon, Math.min(over * step, right)), m],
      ArrowUp: () => [epsilon, Math.max(m, Math.min(Math.floor(m) + by, top))],
      ArrowDown: () => [epsilon, Math.max(Math.ceil(m) - by, 1)],
      Home: () => [left, m],
      End: () => [right, m],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    const [reached, among] = to();
    this.#moved(clean(reached), among);
  }

  #moved(epsilon, m) {
    const to = { epsilon: this.relative ? Math.min(epsilon, 1) : epsilon, m };
    if (to.epsilon === this.point.epsilon && to.m === this.point.m) return;
    this.move(to);
    this.onmove({ ...to });
  }
}
