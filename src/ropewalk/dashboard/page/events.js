// The last events, and one that is followed.

import { fill, pager } from "./lists.js";
import { $, ask, clock, later, latest, make, many, ms, see, short, topicCalled, topicsCalled } from "./words.js";

const MOST = 30; // of the list
const WITHOUT = "a node without telemetry"; // who publishes is the only one to write that, and on which topics
const AT_ONCE = 500; // deliveries on a page of the table; the map has all of them

export class Events {
  constructor(network, map, topics, openNode, say) {
    Object.assign(this, { network, map, topics, openNode, say, followed: undefined, known: undefined, fresh: false, page: 0, turn: latest(), asking: false });
    this.refresh = later(400, () => this.show());
    this.again = later(500, () => this.asking || this.load(false));
    $("events-topic").addEventListener("change", () => this.show());
    $("event-close").addEventListener("click", () => this.close());
    $("event-again").addEventListener("click", () => this.load(true));
    map.addEventListener("travel", ({ detail }) => {
      this.say(detail.words);
      this.light();
    });
  }

  show() {
    const topic = $("events-topic").checked ? this.topics.chosen?.id : undefined;
    const last = [...this.network.events.values()].filter((event) => !topic || event.topics.some(({ id }) => id === topic)).sort((a, b) => b.at - a.at).slice(0, MOST);
    $("events-none").hidden = last.length > 0;
    fill($("events"), last.map((event) => this.inShort(event)));
    this.keepUp();
  }

  keepUp() {
    // ask again for one that has grown, but never before what was asked for has come
    const now = this.network.events.get(this.followed);
    const grown = now?.got !== this.known?.delivered || now?.publisher !== this.known?.publisher;
    if (now && !this.asking && grown) this.again();
  }

  inShort(event) {
    const missing = event.expected > event.got && this.network.at - event.at > 5;
    return make("li", { "data-key": event.id },
      make("button", { type: "button", "aria-pressed": event.id === this.followed, onclick: () => this.follow(event.id) },
        make("b", {}, topicsCalled(event.topics)),
        make("span", { class: `right${missing ? " bad" : ""}` }, event.expected ? `${event.got} of ${event.expected}` : many(event.got, "delivery", "deliveries")),
        make("small", {}, `${clock(event.at)} by ${event.publisher === null ? WITHOUT : this.network.called(event.publisher)}`),
        make("small", { class: "right" }, event.got ? `${many(event.hops, "hop")}, ${ms(event.took)} ms` : "")));
  }

  follow(id) {
    if (id !== this.followed) this.empty("…");
    this.followed = id;
    this.fresh = true;
    $("event").hidden = id === undefined;
    $("event-title").textContent = id === undefined ? "" : `Event ${short(id)}`;
    if (id !== undefined) this.load(true);
    this.show();
  }

  close() {
    const button = $("events").querySelector("[aria-pressed=true]");
    this.follow(undefined);
    (button ?? $("tab-events")).focus({ preventScroll: true }); // the button that had it is gone
  }

  empty(words) {
    // nothing is known of it, so nothing is drawn
    this.known = undefined;
    this.page = 0;
    this.map.follow(undefined);
    this.say("");
    $("event-about").textContent = words;
    fill($("event-steps"), []);
    fill($("event-pager"), []);
  }

  renew() {
    // everything was told anew: perhaps it is earlier now, or the dashboard has begun anew
    if (this.followed !== undefined && !this.network.events.has(this.followed)) this.empty("No node has told of it yet, or any more.");
  }

  async load(again) {
    const id = this.followed, current = this.turn();
    if (id === undefined) return;
    this.asking = true;
    const event = await ask(`/api/events/${id}?page=all`).catch(() => undefined);
    if (!current()) return;
    this.asking = false;
    if (event === undefined || id !== this.followed) return;
    if (event === null) {
      this.empty("No node has told of it yet, or any more.");
      return;
    }
    const first = this.known === undefined;
    this.known = event;
    if (this.fresh && event.topics.length && !event.topics.some((topic) => topic.id === this.topics.chosen?.id)) this.topics.choose(event.topics[0]);
    if (this.fresh || again) see($("map"));
    this.fresh = false;
    this.tell(event);
    this.map.follow(event, again || first);
    this.light();
    this.keepUp();
  }

  tell(event) {
    const published = event.publisher === null
      ? `Published by ${WITHOUT}, so that nobody has said on which topics. First got at ${clock(event.at)}. `
      : `On ${event.topics.map(topicCalled).join(", ") || "topics unknown"}, published by ${this.network.called(event.publisher)} at ${clock(event.at)}, ${many(event.size, "byte")}. `;
    $("event-about").textContent = published +
      `${event.delivered}${event.expected ? ` of ${event.expected}` : ""} ${event.delivered === 1 && !event.expected ? "delivery" : "deliveries"}.` +
      (event.beyond ? ` There is no room for ${many(event.beyond, "of them", "of them")}.` : "");
    this.list(event.steps);
  }

  list(steps) {
    const pages = Math.max(1, Math.ceil(steps.length / AT_ONCE));
    this.page = Math.min(this.page, pages - 1);
    fill($("event-steps"), steps.slice(this.page * AT_ONCE, (this.page + 1) * AT_ONCE).map(([node, source, hops, took]) =>
      make("tr", { "data-key": node },
        make("td", {}, this.nodeButton(node)), make("td", {}, source === null ? "–" : this.nodeButton(source)),
        make("td", { class: "number" }, hops), make("td", { class: "number" }, ms(took)))));
    pager($("event-pager"), { page: this.page, pages }, (page) => {
      this.page = page;
      this.list(steps);
      this.light();
    });
  }

  nodeButton(id) {
    return make("button", { type: "button", title: this.network.called(id), onclick: () => this.network.byId(id) && this.openNode(id) }, this.network.called(id));
  }

  light() {
    const shown = (this.map.travel?.shown ?? 0) - this.page * AT_ONCE;
    [...$("event-steps").rows].forEach((row, at) => row.classList.toggle("lit", at < shown));
  }
}
