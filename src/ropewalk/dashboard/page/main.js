// Puts the page together.

import { overall } from "./charts.js";
import { publishing, replaying, tabs, themes } from "./controls.js";
import { Events } from "./events.js";
import { Map2D } from "./map.js";
import { Nodes } from "./nodes.js";
import { Network } from "./stream.js";
import { fill } from "./lists.js";
import { Topics } from "./topics.js";
import { $, brief, called, clock, later, make, many, number, see, short, topicCalled } from "./words.js";

const network = new Network();
const map = new Map2D($("map"), network);
const topics = new Topics();
const nodes = new Nodes(network, map, topics);
const charts = later(900, () => overall(network, $));
const open = tabs((tab) => { if (tab === "tab-node") { nodes.list(); nodes.load(); } });
const openNode = (id) => { map.choose(id); open("tab-node"); };
const events = new Events(network, map, topics, openNode, say);
const showPublishing = publishing((id) => {
  const held = $("panel-publish").contains(document.activeElement);
  open("tab-events");
  if (held) $("tab-events").focus({ preventScroll: true }); // what had it is out of sight
  $("published").textContent = `Published: event ${short(id)}. It is followed on the map.`;
  events.follow(id);
});
const showReplay = replaying();
themes(() => { map.changed(true); overall(network, $); nodes.draw(); });

const news = later(1000, () => {
  const words = { up: "up", down: "down", left: "left", elsewhere: "" };
  fill($("news"), [...network.news.entries()].sort((a, b) => b[0] - a[0]).slice(0, 60).map(([key, [at, who, state, why]]) =>
    make("li", { "data-key": key }, make("div", {}, make("b", {}, called(network.nodes.get(who))), make("span", { class: `right${state === "down" ? " bad" : ""}` }, words[state] ?? state), make("small", {}, clock(at)), make("small", { class: "right" }, why)))));
});

function say(words) {
  // of the event that is under way; else of the node that is chosen
  const node = network.byId(map.selected);
  const about = node ? `node ${brief(called(node))}, ${node.state}: ${many(node.follows, "topic")}, LVS ${node.lvs}, PVS ${node.pvs}, ${many(node.connections, "connection")}` : "";
  $("map-open").hidden = !node;
  const said = words || about;
  if ($("map-said").textContent !== said) $("map-said").textContent = said; // it is read out
}

function title() {
  $("map-title").textContent = topics.chosen ? `Overlay of ${topicCalled(topics.chosen)}` : "All connections";
  $("map-summary").textContent = map.summary(topics.chosen);
  $("legend-member").textContent = topics.chosen ? "follows the topic" : "node"; // without a topic all are drawn so
  for (const id of ["legend-other", "legend-overlay"]) $(id).hidden = !topics.chosen;
}

network.addEventListener("connection", ({ detail }) => {
  $("connection").className = detail.kind;
  if ($("connection").textContent !== detail.words) $("connection").textContent = detail.words; // it is read out
});
network.addEventListener("change", ({ detail }) => {
  const { totals, about } = network;
  for (const name of ["up", "down", "topics", "links", "lvs", "pvs", "connections", "published", "delivered"]) $(`total-${name}`).textContent = number(totals[name]);
  $("total-down").parentElement.classList.toggle("alarm", totals.down > 0);
  $("mode").textContent = about.live ? "live" : "replay";
  $("mode").classList.toggle("live", about.live);
  $("beyond").hidden = !totals.beyond;
  $("beyond").textContent = `Not all is shown: there was no room for more nodes or topics, ${many(totals.beyond, "time")}.`;
  $("unreadable").hidden = !about.unreadable;
  $("unreadable").textContent = `${many(about.unreadable, "line")} of the files could not be read, and ${about.unreadable === 1 ? "is" : "are"} passed over.`;
  $("map-empty").hidden = network.nodes.size > 0;
  if (detail.nodes_gone && map.selected !== undefined && !network.byId(map.selected)) map.choose(undefined); // after a break it may only not be back yet
  if (detail.whole) events.renew();
  const chosen = network.ids.get(map.selected), underWay = map.travel && !map.travel.over;
  if (!underWay && (detail.whole || detail.nodes?.some(([number]) => number === chosen))) say(""); // it may be another story now
  showPublishing(about);
  showReplay(about);
  title();
  const moved = detail.whole || detail.nodes || detail.nodes_gone || detail.links || detail.links_gone;
  if (moved || detail.overlay || detail.overlay_gone || detail.members) map.changed(Boolean(moved));
  if (detail.nodes || detail.nodes_gone || detail.whole) nodes.refresh();
  if (detail.nodes || detail.whole || detail.overlay) topics.refresh();
  if (detail.points || detail.whole) charts();
  if (detail.news || detail.whole) news();
  events.refresh();
});
topics.addEventListener("choose", ({ detail }) => {
  network.open(detail?.id ?? "");
  title();
  map.changed();
  if (detail && !typed) $("publish-topics").value = detail.name;
});
let typed = false; // whether somebody has said where to publish: then choosing a topic does not change it
$("publish-topics").addEventListener("input", () => { typed = $("publish-topics").value !== ""; });
map.addEventListener("choose", () => {
  nodes.choose(map.selected);
  say("");
});
map.addEventListener("pick", () => open("tab-node"));
map.addEventListener("open", () => { if (network.byId(map.selected)) { open("tab-node"); $("panel-node").focus(); } });
$("map-open").addEventListener("click", () => {
  open("tab-node");
  $("panel-node").focus({ preventScroll: true });
  see($("node"));
});
$("zoom-in").addEventListener("click", () => map.zoomBy(1.25));
$("zoom-out").addEventListener("click", () => map.zoomBy(0.8));
$("zoom-all").addEventListener("click", () => map.all());
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  if (event.key === "[") topics.move(-1);
  if (event.key === "]") topics.move(1);
});
new ResizeObserver(() => { if (network.points.size) charts(); }).observe($("charts")); // else the first points would wait for the next turn

document.addEventListener("visibilitychange", () => network.look(document.hidden));
network.look(document.hidden);
topics.load().finally(() => network.source ?? network.open("")); // which topic is known first: else everything would be told twice
window.ropewalk = { network, map, topics }; // for who looks at it with the browser's tools
