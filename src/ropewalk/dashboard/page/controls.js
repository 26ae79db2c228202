// What somebody tells: colours, which part is in front, what to publish, where a replay is.

import { $, latest, make, span, tell } from "./words.js";

export function themes(changed) {
  const order = ["auto", "light", "dark"];
  const words = { auto: "as the system says", light: "light", dark: "dark" };
  let theme = order.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "auto";
  const show = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    $("theme").textContent = theme;
    $("theme").setAttribute("aria-label", `Colours: ${words[theme]}`);
    changed();
  };
  $("theme").addEventListener("click", () => {
    theme = order[(order.indexOf(theme) + 1) % order.length];
    localStorage.setItem("theme", theme);
    show();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  show();
}

export function tabs(shown) {
  const all = [...document.querySelectorAll("[role=tab]")];
  const open = (tab, focus = false) => {
    for (const each of all) {
      const here = each === tab;
      each.setAttribute("aria-selected", here);
      each.tabIndex = here ? 0 : -1;
      $(each.getAttribute("aria-controls")).hidden = !here;
    }
    if (focus) tab.focus();
    shown(tab.id);
  };
  for (const tab of all) {
    tab.addEventListener("click", () => open(tab));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by) open(all[(all.indexOf(tab) + by + all.length) % all.length], true);
    });
  }
  return (id, focus) => open($(id), focus);
}

export function publishing(published) {
  const said = $("publish-said");
  $("publish").addEventListener("submit", async (event) => {
    event.preventDefault();
    const topics = $("publish-topics").value.split(",").map((name) => name.trim()).filter(Boolean);
    const button = $("publish").querySelector("button");
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true"; // not `disabled`: what has focus would lose it
    said.className = "hint";
    said.textContent = "on its way …";
    try {
      const { event: id } = await tell("/api/publish", { topics, text: $("publish-text").value });
      said.textContent = "";
      published(id);
    } catch (error) {
      said.className = "hint bad";
      said.textContent = error.message;
    } finally {
      button.ariaDisabled = "false";
    }
  });
  return (about) => {
    $("publish").hidden = !about.publishing;
    $("publish-why").hidden = about.publishing;
    $("publish-why").textContent = about.publishing ? "" : `Nothing can be published from here: ${about.why_not}.`;
  };
}

export function replaying() {
  let wanted, timer; // where somebody has said that it is to be, until it has come there
  const turn = latest();
  let now = { begin: 0, end: 1, at: 0, speed: 1, paused: false };
  const send = async (what) => {
    const current = turn();
    wanted = what.at ?? wanted;
    const told = await tell("/api/replay", what).catch(() => undefined);
    if (what.at === wanted) wanted = undefined;
    if (told && current()) show(told); // else it is about what was wanted before
  };
  const slider = $("replay-at");
  slider.addEventListener("input", () => {
    const at = now.begin + (slider.value / 1000) * (now.end - now.begin);
    wanted = at;
    $("replay-time").textContent = `${span(at - now.begin)} / ${span(now.end - now.begin)}`;
    clearTimeout(timer);
    timer = setTimeout(() => send({ at }), 150);
  });
  $("replay-play").addEventListener("click", () => send(now.over ? { at: now.begin, paused: false } : { paused: !now.paused }));
  $("replay-speed").addEventListener("change", (event) => send({ speed: Number(event.target.value) }));
  const show = (about) => {
    $("replay").hidden = !about.replay;
    if (!about.replay) return;
    now = about.replay;
    $("replay-play").textContent = now.over ? "Again" : now.paused ? "Play" : "Pause";
    const speeds = $("replay-speed");
    if (![...speeds.options].some((option) => Number(option.value) === now.speed)) speeds.append(make("option", { value: now.speed }, now.speed));
    if (document.activeElement !== speeds) speeds.value = String(now.speed);
    if (wanted !== undefined) return;
    const share = (now.at - now.begin) / Math.max(1e-9, now.end - now.begin);
    slider.value = Math.round(1000 * share);
    const words = `${span(now.at - now.begin)} / ${span(now.end - now.begin)}`;
    $("replay-time").textContent = words;
    slider.setAttribute("aria-valuetext", words);
  };
  return show;
}
