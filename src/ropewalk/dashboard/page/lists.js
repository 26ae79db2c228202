// Lists that change under who reads, points at, or types in them: what is still there stays the very same element, since a click is one only if
// the button has not been replaced meanwhile, and focus goes with the element that had it.

import { make } from "./words.js";

let pressed; // where a button of the mouse, or a finger, is down
const waiting = new Map(); // lists that are not touched until it is up, with what will be in them

const CLICK = 60; // milliseconds in which a click comes after what it is made of

let releasing; // the timer for that

document.addEventListener("pointerdown", (event) => {
  clearTimeout(releasing); // of the last time
  pressed = event.button === 0 ? event.target : undefined;
}, true);
for (const end of ["pointerup", "pointercancel", "contextmenu"]) document.addEventListener(end, () => { releasing = setTimeout(release, CLICK); }, true);
document.addEventListener("click", release); // it has been done what was clicked for

function release() {
  pressed = undefined;
  for (const [list, items] of waiting) fill(list, items);
  waiting.clear();
}

export function fill(list, items) {
  // put these into it; those that have a `data-key` and are there already are changed where they differ, and stay
  if (pressed && list.contains(pressed)) {
    waiting.set(list, items);
    return;
  }
  waiting.delete(list);
  const held = list.contains(document.activeElement) ? document.activeElement : undefined;
  const place = [...list.children].findIndex((each) => each.contains(held));
  alter(list, items);
  if (held && held !== document.activeElement) refocus(list, held, place);
}

function refocus(list, held, place) {
  // it was moved, or is gone: then who has come in its place, or came before
  const there = list.contains(held) ? held : list.children[Math.min(place, list.children.length - 1)];
  const found = there?.matches("button") ? there : there?.querySelector("button");
  (found ?? list.closest("[tabindex]"))?.focus({ preventScroll: true });
}

function alter(place, items) {
  const known = new Map([...place.children].filter((each) => each.dataset.key !== undefined).map((each) => [each.dataset.key, each]));
  const kept = items.map((item) => {
    const old = known.get(item.dataset?.key);
    if (!old || old.tagName !== item.tagName) return item;
    adopt(old, item);
    return old;
  });
  const staying = new Set(kept);
  for (const each of [...place.childNodes]) if (!staying.has(each)) each.remove();
  let next = place.firstChild;
  for (const each of kept) {
    if (each === next) next = next.nextSibling;
    else place.insertBefore(each, next);
  }
}

function adopt(old, item) {
  // be like that one
  for (const { name } of [...old.attributes]) if (!item.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of item.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  old.onclick = item.onclick;
  const [before, after] = [[...old.childNodes], [...item.childNodes]];
  after.forEach((child, at) => {
    const was = before[at];
    if (was === undefined) old.append(child);
    else if (was.nodeType !== child.nodeType || was.nodeName !== child.nodeName) was.replaceWith(child);
    else if (child.nodeType === Node.TEXT_NODE) { if (was.data !== child.data) was.data = child.data; }
    else adopt(was, child);
  });
  for (const child of before.slice(after.length)) child.remove();
}

export function pager(place, list, turn) {
  const button = (key, words, sign, to) => {
    const off = to < 0 || to >= list.pages; // not `disabled`: what has focus would lose it
    return make("button", { type: "button", "data-key": key, "aria-label": words, "aria-disabled": off, onclick: () => off || turn(to) }, sign);
  };
  const where = make("span", { "data-key": "where" }, `page ${list.page + 1} of ${list.pages}`);
  fill(place, list.pages <= 1 ? [] : [button("before", "Previous page", "‹", list.page - 1), where, button("after", "Next page", "›", list.page + 1)]);
}
