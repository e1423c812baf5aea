// What all pages share: asking the server, telling people, saving the settings.

/** What the server said of this page when it made it. */
export const state = JSON.parse(document.getElementById("state").textContent);

/** An answer that was no: what is wrong, and what to try. */
export class Refusal extends Error {
  constructor({ what, hint = null, kind = "" }, status = 0) {
    super(what);
    Object.assign(this, { what, hint, kind, status });
  }
}

const meta = (name) => document.querySelector(`meta[name=${name}]`).content;
const csrf = meta("csrf");
/** What the addresses of all pages begin with. */
export const root = meta("root");
const gone = { what: "the app does not answer", hint: "was it ended? Start wideberth ui again" };

/** Ask the server: JSON there and back. A file is sent as it is. */
export async function ask(method, path, body, { signal } = {}) {
  const plain = body instanceof Blob;
  const headers = { "X-Wideberth": csrf };
  if (body !== undefined && !plain) headers["Content-Type"] = "application/json";
  const sent = body === undefined || plain ? body : JSON.stringify(body);
  let answer;
  try {
    // What is saved on leaving must arrive; browsers permit that of small messages only.
    const keepalive = method === "PUT" && sent.length < 30_000;
    answer = await fetch(`${root}/api${path}`, { method, headers, body: sent, signal, keepalive });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(gone);
  }
  let said;
  try {
    said = await answer.json();
  } catch {
    // Of a promise only the half arrived, if it was one.
    throw new Refusal({ what: "the app did not understand itself", hint: "reload the page" }, answer.ok ? 0 : answer.status);
  }
  if (!answer.ok) throw new Refusal(said, answer.status);
  return said;
}

/** Ask again for some seconds where no answer came: one that was lost does not mean that the app has ended. */
export async function askPatiently(method, path, missed = () => {}) {
  for (let left = 20; ; left -= 1) {
    try {
      return await ask(method, path);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status || !left) throw error;
    }
    missed();
    await new Promise((resolve) => { setTimeout(resolve, 400); });
  }
}

/** Send a file with progress; returns the answer and a way to cancel. */
export function send(path, file, progress) {
  const request = new XMLHttpRequest();
  const answer = new Promise((resolve, reject) => {
    request.open("POST", `${root}/api${path}`);
    request.setRequestHeader("X-Wideberth", csrf);
    request.responseType = "json";
    request.upload.onprogress = (at) => progress(at.loaded, at.total);
    request.onload = () => (request.status < 300
      ? resolve(request.response)
      : reject(new Refusal(request.response ?? gone, request.status)));
    request.onerror = () => reject(new Refusal(gone));
    request.onabort = () => reject(new DOMException("cancelled", "AbortError"));
    request.send(file);
  });
  return { answer, cancel: () => request.abort() };
}

/** Make an element: h("p", {class: "note"}, "text", other). */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

const signs = { good: "✓", caution: "!", bad: "✗", info: "i", waiting: "…" };

/** Hints for the command line help nobody here. */
const useful = (hint) => hint && !/^(wideberth |--)/.test(hint);

const hinted = (hint) => (hint instanceof Node ? hint : useful(hint) ? h("span", { class: "hint" }, `Try: ${hint}`) : null);

/** Proposals as buttons that apply them; what is said instead if there are none. */
export function proposals(tries, apply, otherwise = null) {
  if (!tries?.length) return otherwise;
  return h("span", { class: "hint" }, "Try: ", tries.map((one) => h("button", { type: "button", class: "second try", onclick: guarded(() => apply(one)) }, one.words)));
}

/** A message: kind is good, caution, bad, info or waiting. */
export function message(kind, what, hint = null, ...more) {
  const tried = hinted(hint);
  return h("div", { class: `message ${kind}` },
    h("span", { class: "sign", "aria-hidden": "true" }, signs[kind]),
    h("div", {}, sentence(what), " ", tried, ...more));
}

/** The same in a line. */
export function says(kind, what, hint = null) {
  return h("p", { class: `says ${kind}` },
    h("span", { class: "sign", "aria-hidden": "true" }, signs[kind]),
    h("span", {}, sentence(what), " ", hinted(hint)));
}

/** Show what went wrong on top of the page, until something else does. */
export function alarm(error) {
  if (error.name === "AbortError") return;
  const told = error instanceof Refusal ? error : new Refusal({ what: "something went wrong in this page", hint: "reload it" });
  document.getElementById("alerts").replaceChildren(message("bad", told.what, told.hint));
  document.getElementById("alerts").scrollIntoView({ block: "nearest" });
  if (told !== error) throw error;
}

/** Take back what was shown on top. */
export const calm = () => document.getElementById("alerts").replaceChildren();

/** Show how far a job is: a bar, and the phase with the seconds so far. */
export function follows(bar, words, job, phases = {}) {
  const known = job.total > 0 && job.done <= job.total;
  if (known) Object.assign(bar, { max: job.total, value: job.done }); else bar.removeAttribute("value");
  words.textContent = `${own(phases, job.phase) ?? job.phase ?? "starting"}${known ? ` (${count(job.done)} of ${count(job.total)})` : ""}, ${Math.round(job.seconds)} s`;
}

/** Tell those who listen. */
export const tell = (text) => { document.getElementById("status").textContent = text; };

/** Let a handler's failure be shown. */
export const guarded = (work) => async (...given) => {
  try {
    calm();
    return await work(...given);
  } catch (error) {
    return alarm(error);
  }
};

/** Begin with a capital letter, end with a full stop. */
export function sentence(text) {
  const trimmed = String(text).trim();
  return trimmed && trimmed[0].toUpperCase() + trimmed.slice(1) + (/[.!?…]$/.test(trimmed) ? "" : ".");
}

/** A number as people read it. */
export const figure = (number) => (typeof number === "number"
  ? number.toLocaleString("en-US", { maximumSignificantDigits: Math.abs(number) >= 1000 ? 15 : 6 })
  : String(number));

export const count = (number) => number.toLocaleString("en-US");

/** What a section says of a column; a column may be called "constructor". */
export const own = (section, column) => (Object.hasOwn(section ?? {}, column) ? section[column] : undefined);

const waiting = new Set();

/** Run what was asked last, once nobody asks any more for so long, or somebody leaves. */
export function later(work, milliseconds) {
  let timer;
  const now = () => {
    clearTimeout(timer);
    waiting.delete(now);
    work();
  };
  return () => {
    clearTimeout(timer);
    waiting.add(now);
    timer = setTimeout(now, milliseconds);
  };
}

const hurry = () => [...waiting].forEach((now) => now());
addEventListener("pagehide", hurry);

// Settings are saved one after the other, each as the whole policy that it leads to.
let saving = Promise.resolve();
let pending = 0;

/** Whether changes are still on their way. */
export const isSaving = () => pending > 0;

/** Change the settings by a function of the policy, and save them; later changes wait. */
export function change(edit) {
  pending += 1;
  saving = saving.catch(() => {}).then(async () => {
    const content = structuredClone(state.content);
    const more = (await edit(content)) ?? {};
    const seed = "seed" in more ? more.seed : state.seed;
    const saved = await ask("PUT", `/tables/${state.table}/plan`, { content, seed, version: state.version });
    Object.assign(state, saved);
    calm();
    tell("saved");
  }).finally(() => { pending -= 1; });
  return saving;
}

/** Wait until everything is saved, before leaving for a step that rests on it. */
export const saved = () => {
  hurry();
  return saving.catch(() => {});
};

/** Let the page be used: until everything listens, what is clicked would be lost. */
export const ready = () => document.getElementById("main").removeAttribute("inert");

for (const link of document.querySelectorAll(".onward a, .steps a, a.after-saving")) {
  link.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || link.target) return;
    event.preventDefault();
    await saved();
    location.assign(link.href);
  });
}
