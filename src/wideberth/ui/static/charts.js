// Draws the charts of wideberth: Vega-Lite specifications, by what lies in vendor/ and nothing else.
// Expressions are interpreted, not compiled, so that a page can forbid eval; the SVG takes its
// colours from charts.css, so that it follows the page from light to dark.

import "./vendor/vega.min.js";
import "./vendor/vega-lite.min.js";
import { expressionInterpreter } from "./vendor/interpreter.js";

const { vega, vegaLite } = globalThis;

// A specification brings its data along. One that asks for more gets nothing.
const refuse = async () => {
  throw new Error("a chart must not fetch anything");
};
const loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

const views = new WeakMap();

// What Vega-Lite says while compiling is for authors of specifications; errors are thrown anyway.
const silent = {};
for (const level of ["level", "error", "warn", "info", "debug"]) silent[level] = () => silent;

/**
 * Draw a chart in place of what an element shows.
 *
 * @param {HTMLElement} element - Where to; as wide as it is, but not wider than the specification.
 * @param {object} spec - A Vega-Lite specification.
 * @param {object} options
 * @param {string} [options.label] - What it shows, for those who hear it read. Without one, the
 *   picture is hidden from them: its table must stand beside it.
 * @returns {Promise<object>} The Vega view.
 */
export async function draw(element, spec, { label } = {}) {
  const compiled = vegaLite.compile(spec, { logger: silent }).spec;
  const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
    expr: expressionInterpreter,
    renderer: "svg",
    hover: false,
    loader,
    logLevel: vega.Error,
  });
  views.get(element)?.finalize();
  views.set(element, view);
  element.classList.add("chart");
  const fresh = document.createElement("div");
  await view.initialize(fresh).runAsync();
  if (views.get(element) !== view) return view; // another one was asked for meanwhile
  const svg = fresh.querySelector("svg");
  // What Vega says of the picture by itself: "Vega visualization", and a pointer of its own.
  for (const name of ["role", "aria-roledescription", "aria-label", "style"]) fresh.removeAttribute(name);
  if (label) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
    svg.firstElementChild.setAttribute("aria-hidden", "true"); // its marks have roles, but no names
  } else {
    svg.setAttribute("aria-hidden", "true");
  }
  element.replaceChildren(fresh);
  return view;
}
