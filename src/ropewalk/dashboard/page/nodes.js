// One node in detail, and all of them as a list.

import { chart } from "./charts.js";
import { fill, pager } from "./lists.js";
import { $, ask, called, clock, later, latest, make, many, short, topicCalled } from "./words.js";

const STATES = { up: "up", down: "down", left: "left", elsewhere: "elsewhere: it writes no telemetry here" };

export class Nodes {
  constructor(network, map, topics) {
    Object.assign(this, { network, map, topics, chosen: undefined, known: undefined, page: 0, turn: latest(), turnOfList: latest() });
    this.refresh = later(2000, () => { this.load(); if (!$("panel-node").hidden) this.list(); });
    $("nodes-find").addEventListener("input", () => { this.page = 0; this.list(); });
    $("node-close").addEventListener("click", () => {
      map.choose(undefined);
      $("nodes-find").focus(); // the button is gone
    });
  }

  choose(id) {
    this.chosen = id;
    this.known = undefined;
    $("node").hidden = id === undefined;
    $("node-title").textContent = `Node ${this.network.called(id)}`;
    this.load();
  }

  async load() {
    const id = this.chosen, current = this.turn();
    if (id === undefined) return;
    const node = await ask(`/api/nodes/${id}`).catch(() => undefined);
    if (node === undefined || !current()) return;
    this.known = node;
    $("node").hidden = !node; // in a replay it may not have come yet
    if (node) this.show(node);
  }

  show(node) {
    $("node-title").textContent = `Node ${called(node)}`;
    const state = node.state === "down" ? `down since ${clock(node.since)}: ${node.why}` : node.state === "left" ? `left at ${clock(node.since)}` : STATES[node.state];
    const about = { state, id: node.id, address: node.address || "not known", protocol: node.protocol || "not known", holds: `LVS ${node.lvs}, PVS ${node.pvs}, ${many(node.connections, "connection")}` };
    fill($("node-about"), Object.entries(about).flatMap(([name, value]) => [make("dt", { "data-key": name }, name), make("dd", { "data-key": `${name} is` }, value)]));
    $("node-topics-title").textContent = `Topics (${node.follows})`;
    fill($("node-topics"), node.topics.map((topic) =>
      make("li", { "data-key": topic.id }, make("button", { type: "button", title: many(topic.held, "neighbour"), onclick: () => this.topics.choose(topic) }, topicCalled(topic)))));
    $("node-links-title").textContent = `Links (${node.links.length})`;
    fill($("node-links"), node.links.map((link) =>
      make("li", { "data-key": link.id }, make("button", { type: "button", onclick: () => this.open(link.id) },
        make("b", {}, link.name || short(link.id)),
        make("small", { class: "right" }, `${link.connected ? "" : "not connected, "}${link.shared ? `held on ${many(link.shared, "topic")}` : "holds it, or passes on"}`)))));
    this.draw();
  }

  draw() {
    if (!this.known || $("panel-node").hidden) return;
    const { history } = this.known, last = history.at(-1);
    const times = history.map((point) => point[0]);
    if (times.length) times.push(this.network.at);
    const line = (name, place, tint) => ({ name, colour: tint, steps: true, values: [...history.map((point) => point[place]), ...(last ? [last[place]] : [])] });
    chart($("node-chart"), $("node-chart-legend"), times, [line("LVS", 1, "overlay"), line("PVS", 2, "event"), line("conn.", 3, "blue")]);
  }

  open(id) {
    if (this.network.byId(id)) this.map.choose(id);
  }

  async list() {
    const current = this.turnOfList();
    const list = await ask(`/api/nodes?page=${this.page}&find=${encodeURIComponent($("nodes-find").value)}`).catch(() => undefined);
    if (!list || !current()) return;
    this.page = list.page; // perhaps there are no longer as many
    $("nodes-title").textContent = `All nodes (${list.of})`;
    fill($("nodes"), list.entries.map((node) =>
      make("li", { "data-key": node.id }, make("button", { type: "button", "aria-pressed": node.id === this.chosen, onclick: () => this.open(node.id) },
        make("b", {}, called(node)),
        make("span", { class: `right${node.state === "down" ? " bad" : ""}` }, node.state === "up" ? `${many(node.connections, "connection")}` : node.state),
        make("small", {}, short(node.id)),
        make("small", { class: "right" }, node.state === "up" ? `${many(node.follows, "topic")}, LVS ${node.lvs}` : node.why)))));
    pager($("nodes-pager"), list, (page) => { this.page = page; this.list(); });
  }
}
