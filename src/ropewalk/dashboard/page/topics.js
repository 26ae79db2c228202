// The list of topics: one is chosen, by mouse or keys.

import { fill, pager } from "./lists.js";
import { $, ask, later, latest, make, topicCalled } from "./words.js";

export class Topics extends EventTarget {
  constructor() {
    super();
    Object.assign(this, { entries: [], chosen: undefined, page: 0, touched: false });
    this.turn = latest();
    this.refresh = later(3000, () => this.load());
    $("topics-find").addEventListener("input", () => { this.page = 0; this.load(); });
    $("topics").addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      this.move(by);
    });
    $("topic-before").addEventListener("click", () => this.move(-1));
    $("topic-after").addEventListener("click", () => this.move(1));
  }

  async load() {
    const current = this.turn();
    const list = await ask(`/api/topics?page=${this.page}&find=${encodeURIComponent($("topics-find").value)}`).catch(() => undefined);
    if (!list || !current()) return;
    this.entries = list.entries;
    this.page = list.page; // perhaps there are no longer as many
    $("topics-title").textContent = `Topics (${list.of})`;
    pager($("topics-pager"), list, (page) => { this.page = page; this.load(); });
    if (this.chosen) this.chosen = this.entries.find((topic) => topic.id === this.chosen.id) ?? this.chosen;
    else if (this.entries.length && !this.touched) this.choose(this.entries[0]);
    this.show();
  }

  all() {
    return [{ id: "", name: "all connections" }, ...this.entries];
  }

  move(by) {
    const all = this.all(), here = all.findIndex((topic) => topic.id === (this.chosen?.id ?? ""));
    this.choose(all[Math.min(all.length - 1, Math.max(0, here + by))]);
    this.show();
    $("topics").querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  choose(topic) {
    this.touched = true;
    this.chosen = topic.id ? (this.entries.find((known) => known.id === topic.id) ?? topic) : undefined;
    this.show();
    this.dispatchEvent(new CustomEvent("choose", { detail: this.chosen }));
  }

  show() {
    fill($("topics"), this.all().map((topic) => {
      const here = topic.id === (this.chosen?.id ?? "");
      const row = make("li", { role: "option", id: `topic-${topic.id || "all"}`, "data-key": topic.id || "all", "aria-selected": here, title: topic.id, onclick: () => this.choose(topic) });
      row.append(make("span", {}, topic.id ? topicCalled(topic) : topic.name), make("span", {}, topic.id ? `${topic.members} nodes` : ""));
      if (here) $("topics").setAttribute("aria-activedescendant", row.id);
      return row;
    }));
  }
}
