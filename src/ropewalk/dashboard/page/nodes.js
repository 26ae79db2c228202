// One node in detail, and all of them as a list.

import { chart } from "./charts.js";
import { $, ask, called, clock, fill, later, make, many, pager, short, topicCalled } from "./words.js";

const STATES = { up: "up", down: "down", left: "left", elsewhere: "elsewhere: it writes no telemetry here" };

export class Nodes {
  constructor(network, map, topics) {
    Object.assign(this, { network, map, topics, chosen: undefined, page: 0 });
    this.refresh = later(2000, () => { this.load(); if (!$("panel-node").hidden) this.list(); });
    $("nodes-find").addEventListener("input", () => { this.page = 0; this.list(); });
    $("node-close").addEventListener("click", () => map.choose(undefined));
  }

  choose(number) {
    this.chosen = this.network.nodes.get(number)?.id;
    $("node").hidden = this.chosen === undefined;
    this.load();
  }

  async load() {
    const id = this.chosen;
    if (id === undefined) return;
    const node = await ask(`/api/nodes/${id}`).catch(() => undefined);
    if (!node || id !== this.chosen) return;
    $("node").hidden = false;
    $("node-title").textContent = `Node ${called(node)}`;
    const state = node.state === "down" ? `down since ${clock(node.since)}: ${node.why}` : node.state === "left" ? `left at ${clock(node.since)}` : STATES[node.state];
    const about = { state, id: node.id, address: node.address || "not known", protocol: node.protocol || "not known", holds: `LVS ${node.lvs}, PVS ${node.pvs}, ${many(node.connections, "connection")}` };
    $("node-about").replaceChildren(...Object.entries(about).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    $("node-topics-title").textContent = `Topics (${node.follows})`;
    fill($("node-topics"), node.topics.map((topic) => {
      const button = make("button", { type: "button", title: many(topic.held, "neighbour"), onclick: () => this.topics.choose(topic) }, topicCalled(topic));
      button.dataset.key = topic.id;
      return make("li", {}, button);
    }));
    $("node-links-title").textContent = `Links (${node.links.length})`;
    fill($("node-links"), node.links.map((link) => {
      const button = make("button", { type: "button", onclick: () => this.open(link.id) },
        make("b", {}, link.name || short(link.id)),
        make("small", { class: "right" }, `${link.connected ? "" : "not connected, "}${link.shared ? `held on ${many(link.shared, "topic")}` : "holds it, or passes on"}`));
      button.dataset.key = link.id;
      return make("li", {}, button);
    }));
    const times = node.history.map((point) => point[0]);
    if (times.length) times.push(this.network.at);
    const line = (name, place, tint) => ({ name, colour: tint, steps: true, values: [...node.history.map((point) => point[place]), ...(node.history.length ? [node.history.at(-1)[place]] : [])] });
    if (!$("panel-node").hidden) chart($("node-chart"), $("node-chart-legend"), times, [line("LVS", 1, "overlay"), line("PVS", 2, "event"), line("conn.", 3, "blue")]);
  }

  open(id) {
    const node = this.network.byId(id);
    if (node) this.map.choose(node.number);
  }

  async list() {
    const list = await ask(`/api/nodes?page=${this.page}&find=${encodeURIComponent($("nodes-find").value)}`).catch(() => undefined);
    if (!list) return;
    $("nodes-title").textContent = `All nodes (${list.of})`;
    fill($("nodes"), list.entries.map((node) => {
      const button = make("button", { type: "button", "aria-pressed": node.id === this.chosen, onclick: () => this.open(node.id) },
        make("b", {}, called(node)),
        make("span", { class: `right${node.state === "down" ? " bad" : ""}` }, node.state === "up" ? `${many(node.connections, "connection")}` : node.state),
        make("small", {}, short(node.id)),
        make("small", { class: "right" }, node.state === "up" ? `${many(node.follows, "topic")}, LVS ${node.lvs}` : node.why));
      button.dataset.key = node.id;
      return make("li", {}, button);
    }));
    pager($("nodes-pager"), list, (page) => { this.page = page; this.list(); });
  }
}
