// The last events, and one that is followed.

import { $, ask, called, clock, fill, later, make, many, ms, pager, short, topicCalled } from "./words.js";

const MOST = 30; // of the list

export class Events {
  constructor(network, map, topics, openNode) {
    Object.assign(this, { network, map, topics, openNode, followed: undefined, known: undefined, page: 0 });
    this.refresh = later(400, () => this.show());
    this.again = later(500, () => this.load(false));
    $("events-topic").addEventListener("change", () => this.show());
    $("event-close").addEventListener("click", () => this.follow(undefined));
    $("event-again").addEventListener("click", () => this.load(true));
    map.addEventListener("travel", (event) => this.light(event.detail));
  }

  show() {
    const topic = $("events-topic").checked ? this.topics.chosen?.id : undefined;
    const last = [...this.network.events.values()].filter((event) => !topic || event.topics.includes(topic)).sort((a, b) => b.at - a.at).slice(0, MOST);
    $("events-none").hidden = last.length > 0;
    fill($("events"), last.map((event) => {
      const topics = event.topics.map((id) => this.topicName(id)).join(", ") || "topics unknown";
      const missing = event.expected > event.got && this.network.at - event.at > 5;
      const button = make("button", { type: "button", "aria-pressed": event.id === this.followed, onclick: () => this.follow(event.id) },
        make("b", {}, topics),
        make("span", { class: "right" }, event.expected ? `${event.got} of ${event.expected}` : many(event.got, "delivery", "deliveries")),
        make("small", {}, `${clock(event.at)} by ${called(this.network.nodes.get(event.publisher))}`),
        make("small", { class: `right${missing ? " bad" : ""}` }, event.got ? `${many(event.hops, "hop")}, ${ms(event.took)} ms` : ""));
      button.dataset.key = event.id;
      return make("li", {}, button);
    }));
    const now = this.network.events.get(this.followed);
    if (now && now.got !== this.known?.delivered) this.again();
  }

  topicName(id) {
    return topicCalled(this.topics.entries.find((topic) => topic.id === id) ?? { id });
  }

  follow(id) {
    this.followed = id;
    this.known = undefined;
    this.page = 0;
    $("event").hidden = id === undefined;
    $("map-said").textContent = "";
    if (id === undefined) this.map.follow(undefined);
    else this.load(true);
    this.show();
  }

  async load(again) {
    const id = this.followed;
    if (id === undefined) return;
    const event = await ask(`/api/events/${id}?page=${this.page}`).catch(() => undefined);
    if (id !== this.followed || !event) return;
    const first = this.known === undefined;
    this.known = event;
    if (first && event.topics.length && !event.topics.some((topic) => topic.id === this.topics.chosen?.id)) this.topics.choose(event.topics[0]);
    $("event-title").textContent = `Event ${short(id)}`;
    $("event-about").textContent =
      `On ${event.topics.map(topicCalled).join(", ") || "topics unknown"}, published by ${called(this.network.nodes.get(event.publisher))} at ${clock(event.at)}, ${many(event.size, "byte")}. ` +
      `${event.delivered}${event.expected ? ` of ${event.expected}` : ""} ${event.delivered === 1 && !event.expected ? "delivery" : "deliveries"}.`;
    fill($("event-steps"), event.steps.map(([node, source, hops, took]) => {
      const row = make("tr", {}, make("td", {}, this.nodeButton(node)), make("td", {}, source === null ? "–" : this.nodeButton(source)), make("td", { class: "number" }, hops), make("td", { class: "number" }, ms(took)));
      if (!again && !first) row.className = "lit";
      return row;
    }));
    pager($("event-pager"), { page: event.page, pages: Math.ceil(event.of / 500) }, (page) => { this.page = page; this.load(false); });
    if (this.page === 0) this.map.follow(event, again || first);
  }

  nodeButton(number) {
    const node = this.network.nodes.get(number);
    return make("button", { type: "button", onclick: () => node && this.openNode(number) }, called(node));
  }

  light({ shown, words }) {
    $("map-said").textContent = words;
    [...$("event-steps").rows].forEach((row, at) => row.classList.toggle("lit", at < shown));
  }
}
