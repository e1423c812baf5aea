// Draw every picture of a page where the page has a place for it.
import { draw } from "./charts.js";

function* all(part) {
  if (part?.spec) yield part;
  else if (part && typeof part === "object") for (const inner of Object.values(part)) yield* all(inner);
}

/** Draw the charts of a structure, whatever its shape, in the places named after them. */
export function drawAll(charts) {
  return Promise.all([...all(charts)].map((chart) => {
    const place = document.querySelector(`[data-chart="${CSS.escape(chart.name)}"]`);
    return place && draw(place, chart.spec, { label: `${chart.title}. ${chart.text}` });
  }));
}
