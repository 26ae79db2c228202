// The list of topics: one is chosen, by mouse or keys.

import { fill, pager } from "./lists.js";
import { $, ask, later, latest, make, many, topicCalled } from "./words.js";

export class Topics extends EventTarget {
  constructor() {
    super();
    Object.assign(this, { entries: [], chosen: undefined, page: 0, pages: 1, listed: 0, arriving: undefined, touched: false });
    this.turn = latest();
    this.refresh = later(3000, () => this.load());
    $("topics-find").addEventListener("input", () => this.turnTo(0));
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
    if (!current()) return;
    const { arriving } = this;
    this.arriving = undefined;
    if (!list) {
      this.page = this.listed;
      return;
    }
    this.entries = list.entries;
    this.page = this.listed = list.page; // perhaps there are no longer as many
    this.pages = list.pages;
    $("topics-title").textContent = `Topics (${list.of})`;
    pager($("topics-pager"), list, (page) => this.turnTo(page));
    const arrived = arriving === undefined ? undefined : this.entries.at(arriving);
    if (arrived) this.go(arrived);
    else if (this.chosen) this.chosen = this.entries.find((topic) => topic.id === this.chosen.id) ?? this.chosen;
    else if (this.entries.length && !this.touched) this.choose(this.entries[0]);
    this.show();
  }

  all() {
    return [{ id: "", name: "all connections" }, ...this.entries];
  }

  turnTo(page, arriving = undefined) {
    // show that page; and choose its first topic (0) or its last one (-1), once it has come
    Object.assign(this, { page, arriving });
    this.load();
  }

  move(by) {
    if (this.arriving !== undefined) return; // a page is on its way
    const all = this.all(), here = all.findIndex((topic) => topic.id === (this.chosen?.id ?? ""));
    if (by === 1 && here === all.length - 1 && this.listed < this.pages - 1) this.turnTo(this.listed + 1, 0);
    else if (by === -1 && here === 1 && this.listed > 0) this.turnTo(this.listed - 1, -1);
    else if (here < 0 && Math.abs(by) === 1) this.go(all[1] ?? all[0]); // the chosen one is not listed here
    else this.go(all[Math.min(all.length - 1, Math.max(0, here + by))]);
  }

  go(topic) {
    if (topic.id !== (this.chosen?.id ?? "")) this.choose(topic);
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
      row.append(make("span", {}, topic.id ? topicCalled(topic) : topic.name), make("span", {}, topic.id ? many(topic.members, "node") : ""));
      if (here) $("topics").setAttribute("aria-activedescendant", row.id);
      return row;
    }));
  }
}
