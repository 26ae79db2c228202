// Small things that every part of the page says or makes. Text goes in as text, never as markup.

export const PATIENCE = 25_000; // milliseconds without a word: to who looks on, the server says something every ten seconds, if only that it lives

export const $ = (id) => document.getElementById(id);

export function make(tag, about = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element[name] = value; // so that `fill` can hand it on
    else if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

export const short = (id) => id.slice(0, 6);
export const called = (node) => (node ? node.name || short(node.id) : "?");
export const brief = (name) => (name.length > 26 ? `${name.slice(0, 25)}…` : name); // where more is to be said than a name
export const topicCalled = (topic) => (topic ? topic.name || short(topic.id) : "");
export const topicsCalled = (topics) => {
  const named = topics.filter(({ name }) => name !== undefined); // the server names the first ones
  return named.map(topicCalled).join(", ") + (topics.length > named.length ? ` and ${topics.length - named.length} more` : "") || "topics unknown";
};
export const many = (count, word, words = word + "s") => `${number(count)} ${count === 1 ? word : words}`;
export const number = (value) => (typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 1 }) : "–");
export const clock = (at) => new Date(at * 1000).toLocaleTimeString([], { hour12: false });
export const span = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
export const ms = (value) => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en"));
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export async function ask(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(PATIENCE) });
  if (answer.status === 404) return null; // it is not known
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || `the server answers ${answer.status}`);
  return answer.json();
}

export async function tell(path, what) {
  const headers = { "Content-Type": "application/json", "X-Ropewalk": "1" };
  const about = { method: "POST", headers, body: JSON.stringify(what), signal: AbortSignal.timeout(PATIENCE) };
  const answer = await fetch(path, about).catch((error) => { throw new Error(error.name === "TimeoutError" ? `no answer for ${PATIENCE / 1000} seconds; it may be done all the same` : "the server is not to be reached"); });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.error || `the server answers ${answer.status}`);
  return said;
}

export function latest() {
  // `const current = turn()` before something is asked; then whether nothing else has been asked since: answers may overtake each other
  let asked = 0;
  return () => {
    const mine = ++asked;
    return () => mine === asked;
  };
}

export function see(element) {
  // have it on the screen, where it may be above or below what is seen
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block: "nearest", behavior: still ? "instant" : "smooth" });
}

export function later(wait, work) {
  // at once, and then no more often than every `wait` milliseconds
  let timer, again;
  const run = () => {
    if (timer) { again = true; return; }
    timer = setTimeout(() => { timer = undefined; if (again) { again = false; run(); } }, wait);
    work();
  };
  return run;
}
