// The map: connections in the background, one topic's overlay over them, and an event on its way. Draws only when something has changed.

import { brief, called, colour, many, ms, number, short } from "./words.js";

const MARGIN = 30;
const BELOW = 14; // more room there, for what is said of a node or a hop
const GROW = 220; // milliseconds in which a link lights up
const EDGE = 40; // so far inside is brought who would be out of sight
const WHEEL = [1, 16, 400]; // pixels in what a wheel counts in: pixels, lines, pages
const PER_PIXEL = 0.0014, PER_PINCH = 0.01; // how fast that zooms: a notch of a wheel is about a hundred pixels, two fingers that part a few at a time
const MOST_AT_ONCE = 0.25; // however much comes at once
const MOST_NAMED = 130; // nodes whose names are all drawn; of more, those that matter

export class Map2D extends EventTarget {
  constructor(canvas, network) {
    super();
    Object.assign(this, { canvas, network, zoom: 1, panX: 0, panY: 0, selected: undefined, hovered: undefined, travel: undefined });
    this.places = new Map(); // where nodes are now, by id, on their way to where they belong
    this.spots = new Map(); // where that was on the canvas when it was last drawn
    this.room = [1, 1];
    this.backdrop = document.createElement("canvas");
    this.stale = true; // the backdrop is
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)");
    new ResizeObserver(() => { this.measure(); this.changed(true); }).observe(canvas);
    this.measure();
    this.listen();
  }

  changed(links = false) {
    this.stale ||= links;
    if (!this.frame) this.frame = requestAnimationFrame((now) => this.draw(now));
  }

  // Where things are

  measure() {
    this.room = [this.canvas.clientWidth || 1, this.canvas.clientHeight || 1];
  }

  size() {
    return this.room;
  }

  toScreen(x, y) {
    const [width, height] = this.size();
    const across = MARGIN + (x / 1000) * (width - 2 * MARGIN), down = MARGIN + (y / 1000) * (height - 2 * MARGIN - BELOW);
    return [(across - width / 2) * this.zoom + width / 2 + this.panX, (down - height / 2) * this.zoom + height / 2 + this.panY];
  }

  move() {
    let moving = false;
    for (const node of this.network.nodes.values()) {
      const place = this.places.get(node.id);
      if (!place || this.still.matches) this.places.set(node.id, [node.x, node.y]);
      else {
        const [dx, dy] = [node.x - place[0], node.y - place[1]];
        if (Math.abs(dx) + Math.abs(dy) < 1) { place[0] = node.x; place[1] = node.y; }
        else { place[0] += dx * 0.2; place[1] += dy * 0.2; moving = true; }
      }
    }
    for (const id of this.places.keys()) if (!this.network.ids.has(id)) this.places.delete(id);
    return moving;
  }

  at(number) {
    return this.spots.get(number);
  }

  near(x, y, within = 16) {
    let best, distance = within * within;
    for (const [number, [px, py]] of this.spots) {
      const square = (px - x) ** 2 + (py - y) ** 2;
      if (square < distance) [best, distance] = [number, square];
    }
    return best;
  }

  // Drawing

  draw(now) {
    this.frame = undefined;
    const begun = performance.now();
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = this.size();
    for (const canvas of [this.canvas, this.backdrop]) {
      if (canvas.width === Math.round(width * ratio) && canvas.height === Math.round(height * ratio)) continue;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      this.stale = true;
    }
    const moving = this.move();
    this.spots = new Map([...this.network.nodes.values()].map((node) => [node.number, this.toScreen(...this.places.get(node.id))]));
    if (moving || this.stale) this.drawBackdrop(ratio);
    this.stale = false;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.backdrop, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.lineCap = "round";
    const playing = this.progress(now);
    this.drawOverlay(pen);
    this.drawSelection(pen);
    if (this.travel) this.drawTravel(pen);
    this.drawNodes(pen);
    this.drawNames(pen, width, height);
    this.took = performance.now() - begun;
    if (moving || playing) this.changed();
  }

  drawBackdrop(ratio) {
    const pen = this.backdrop.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.backdrop.width, this.backdrop.height);
    const count = this.network.links.size;
    pen.globalAlpha = count > 3000 ? 0.12 : count > 800 ? 0.16 : 0.22;
    pen.strokeStyle = colour("physical");
    pen.lineWidth = count > 1500 ? 0.6 : 0.9;
    this.lines(pen, this.network.links.values());
    pen.globalAlpha = 1;
  }

  lines(pen, pairs) {
    pen.beginPath();
    for (const [a, b] of pairs) {
      const from = this.at(a), to = this.at(b);
      if (!from || !to) continue;
      pen.moveTo(from[0], from[1]);
      pen.lineTo(to[0], to[1]);
    }
    pen.stroke();
  }

  drawOverlay(pen) {
    const all = [...this.network.overlay.values()];
    const dim = this.travel ? 0.5 : all.length > 1500 ? 0.4 : 0.9;
    pen.strokeStyle = colour("overlay");
    pen.globalAlpha = dim * 0.75;
    pen.lineWidth = all.length > 600 ? 0.8 : 1.2;
    this.lines(pen, all.filter(([, , who]) => who !== 3));
    pen.globalAlpha = dim;
    pen.lineWidth = all.length > 600 ? 1.2 : 2;
    this.lines(pen, all.filter(([, , who]) => who === 3));
    pen.globalAlpha = 1;
  }

  drawSelection(pen) {
    const number = this.network.ids.get(this.selected);
    if (number === undefined) return;
    const mine = [...(this.network.topic ? this.network.overlay : this.network.links).values()].filter((link) => link[0] === number || link[1] === number);
    pen.strokeStyle = colour("blue");
    pen.lineWidth = 2.2;
    pen.globalAlpha = this.travel ? 0.4 : 0.95;
    this.lines(pen, mine);
    pen.globalAlpha = 1;
  }

  drawTravel(pen) {
    pen.strokeStyle = colour("event");
    pen.lineWidth = this.crowd() < 0.7 ? 1.8 : 2.6;
    const { ids } = this.network;
    pen.beginPath(); // one for all: there may be thousands
    for (const step of this.travel.steps.slice(0, this.travel.shown)) {
      const from = step.source === null ? undefined : this.at(ids.get(step.source)), to = this.at(ids.get(step.node));
      if (!from || !to) continue;
      const share = this.travel.over ? 1 : Math.min(1, Math.max(0, (this.travel.elapsed - step.begins) / GROW));
      pen.moveTo(from[0], from[1]);
      pen.lineTo(from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share);
    }
    pen.stroke();
  }

  crowd() {
    // how much smaller nodes are drawn where there is little room for each
    const [width, height] = this.size();
    return Math.min(1, Math.max(0.5, Math.sqrt((width * height) / Math.max(1, this.network.nodes.size)) / 65));
  }

  radius(node) {
    const crowd = this.crowd();
    const base = this.network.topic && !this.network.members.has(node.number) ? 3.6 : 6;
    return Math.max(2.4, base * crowd) * Math.min(1.6, Math.sqrt(this.zoom));
  }

  drawNodes(pen) {
    const tints = { member: colour("overlay"), other: colour("other"), down: colour("down"), event: colour("event"), room: colour("room"), ink: colour("ink"), blue: colour("blue") };
    const reached = this.travel?.reached;
    for (const node of this.network.nodes.values()) {
      const at = this.at(node.number);
      if (!at) continue;
      const [x, y] = at, member = !this.network.topic || this.network.members.has(node.number);
      let radius = this.radius(node);
      pen.beginPath();
      if (node.state === "down") {
        radius = Math.max(radius, 4.5);
        pen.strokeStyle = tints.down;
        pen.lineWidth = 2.2;
        pen.moveTo(x - radius, y - radius); pen.lineTo(x + radius, y + radius);
        pen.moveTo(x + radius, y - radius); pen.lineTo(x - radius, y + radius);
        pen.stroke();
      } else if (node.state !== "up") {
        pen.setLineDash([2, 2]);
        pen.strokeStyle = tints.other;
        pen.fillStyle = tints.room;
        pen.lineWidth = 1.3;
        pen.arc(x, y, Math.max(3, radius * 0.8), 0, 7);
        pen.fill();
        pen.stroke();
        pen.setLineDash([]);
      } else {
        const hop = reached?.get(node.id);
        if (hop !== undefined) radius = Math.max(radius, 7.5 * this.crowd() * Math.min(1.6, Math.sqrt(this.zoom)));
        pen.fillStyle = hop !== undefined ? tints.event : member ? tints.member : tints.other;
        pen.strokeStyle = tints.room;
        pen.lineWidth = 1.5;
        pen.arc(x, y, radius, 0, 7);
        pen.fill();
        pen.stroke();
        if (hop !== undefined && radius > 5.5) {
          pen.fillStyle = tints.room;
          pen.font = `bold ${hop > 9 ? 8 : 10}px system-ui, sans-serif`;
          pen.textAlign = "center";
          pen.textBaseline = "middle";
          pen.fillText(String(hop), x, y + 0.5);
        }
      }
      const selected = node.id === this.selected, publisher = node.id === this.travel?.publisher;
      if (selected || publisher || node.number === this.hovered) {
        pen.beginPath();
        pen.strokeStyle = selected ? tints.blue : publisher ? tints.event : tints.ink;
        pen.lineWidth = 2;
        pen.arc(x, y, radius + 4, 0, 7);
        pen.stroke();
      }
    }
  }

  drawNames(pen, width, height) {
    const all = this.network.nodes.size <= MOST_NAMED || this.zoom > 2.2;
    const [ink, soft, room] = [colour("ink"), colour("soft"), colour("room")];
    const taken = [];
    const wanted = [...this.network.nodes.values()].map((node) => {
      const matters = node.id === this.selected || node.number === this.hovered;
      const member = this.network.members.has(node.number) || this.travel?.reached.has(node.id) || node.id === this.travel?.publisher;
      return { node, rank: matters ? 2 : member || node.state === "down" ? 1 : 0 };
    }).filter(({ rank }) => rank === 2 || (all && (rank === 1 || !this.network.topic)));
    wanted.sort((a, b) => b.rank - a.rank || a.node.number - b.node.number);
    pen.textAlign = "center";
    pen.textBaseline = "alphabetic";
    for (const { node, rank } of wanted) {
      const at = this.at(node.number);
      if (!at || at[0] < 0 || at[1] < 0 || at[0] > width || at[1] > height) continue;
      pen.font = rank === 2 ? "bold 12px system-ui, sans-serif" : "11px system-ui, sans-serif";
      const words = called(node).slice(0, 18), wide = pen.measureText(words).width;
      const x = Math.min(Math.max(at[0], wide / 2 + 2), width - wide / 2 - 2);
      const y = at[1] - this.radius(node) - 5 < 12 ? at[1] + this.radius(node) + 14 : at[1] - this.radius(node) - 5;
      const box = [x - wide / 2 - 1, y - 10, x + wide / 2 + 1, y + 2];
      if (rank < 2 && taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
      taken.push(box);
      pen.lineWidth = 3;
      pen.strokeStyle = room;
      pen.strokeText(words, x, y);
      pen.fillStyle = rank === 2 ? ink : soft;
      pen.fillText(words, x, y);
    }
  }

  // An event

  follow(event, again = true) {
    // nodes are ids here; one that is followed already and has grown goes on from where it is
    const known = this.travel?.id === event?.id && !again ? this.travel : undefined;
    this.travel = undefined;
    if (event) {
      const steps = event.steps.map(([node, source, hops, took]) => ({ node, source, hops, took }));
      const whole = Math.min(4500, 300 + 70 * steps.length);
      steps.forEach((step, turn) => { step.begins = steps.length > 1 ? (turn / (steps.length - 1)) * whole : 0; });
      this.travel = { id: event.id, publisher: event.publisher, steps, whole, shown: 0, elapsed: known?.elapsed ?? 0, over: false, reached: new Map() };
      const done = this.still.matches || known?.over;
      if (done || known) this.reach(done ? Infinity : known.elapsed);
    }
    this.changed();
  }

  progress(now) {
    const travel = this.travel;
    if (!travel || travel.over) return false;
    travel.since ??= now - travel.elapsed;
    this.reach(Math.max(0, now - travel.since));
    return !travel.over;
  }

  reach(elapsed) {
    // so many milliseconds of its way have been shown
    const travel = this.travel, before = travel.shown;
    travel.elapsed = elapsed;
    while (travel.shown < travel.steps.length && travel.steps[travel.shown].begins <= elapsed) travel.shown += 1;
    for (const step of travel.steps.slice(before, travel.shown)) travel.reached.set(step.node, step.hops);
    travel.over = elapsed > travel.whole + GROW || travel.steps.length === 0;
    if (before === travel.shown && !travel.over) return;
    const last = travel.steps[travel.shown - 1], { network } = this;
    const words = last && !travel.over ? `hop ${last.hops} · ${ms(last.took)} ms · ${brief(network.called(last.node))}${last.source === null ? "" : ` from ${brief(network.called(last.source))}`}` : "";
    this.dispatchEvent(new CustomEvent("travel", { detail: { shown: travel.shown, over: travel.over, words } }));
  }

  // Hands

  zoomBy(factor, x = this.size()[0] / 2, y = this.size()[1] / 2) {
    const [width, height] = this.size();
    const next = Math.min(12, Math.max(0.5, this.zoom * factor)), by = next / this.zoom;
    this.panX = (this.panX + width / 2 - x) * by + x - width / 2;
    this.panY = (this.panY + height / 2 - y) * by + y - height / 2;
    this.zoom = next;
    this.changed(true);
  }

  all() {
    Object.assign(this, { zoom: 1, panX: 0, panY: 0 });
    this.changed(true);
  }

  choose(id) {
    // by id, since numbers are those of one run of the dashboard
    this.selected = id;
    this.reveal(this.at(this.network.ids.get(id)));
    this.changed();
    this.dispatchEvent(new CustomEvent("choose"));
  }

  reveal(at) {
    // move the map until that is on it
    const [width, height] = this.size();
    if (!at || (at[0] >= 0 && at[0] <= width && at[1] >= 0 && at[1] <= height)) return;
    const dx = Math.min(Math.max(at[0], EDGE), width - EDGE) - at[0], dy = Math.min(Math.max(at[1], EDGE), height - EDGE) - at[1];
    this.panX += dx;
    this.panY += dy;
    for (const spot of this.spots.values()) { spot[0] += dx; spot[1] += dy; } // for who asks before it is drawn
    this.changed(true);
  }

  step(dx, dy) {
    // the nearest node in that direction, rather ahead than aside
    const mine = this.network.ids.get(this.selected);
    const here = this.at(mine) ?? this.size().map((side) => side / 2);
    let best, least = Infinity;
    for (const [number, [x, y]] of this.spots) {
      if (number === mine) continue;
      const ahead = (x - here[0]) * dx + (y - here[1]) * dy, aside = Math.abs((x - here[0]) * dy) + Math.abs((y - here[1]) * dx);
      if (ahead > 0.5 && ahead + 2.5 * aside < least) [best, least] = [number, ahead + 2.5 * aside];
    }
    if (best !== undefined) this.choose(this.network.nodes.get(best)?.id);
  }

  listen() {
    const { canvas } = this;
    const pointers = new Map();
    let moved = 0, apart = 0;
    const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, place(event));
      moved = apart = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = place(event), before = pointers.get(event.pointerId);
      if (!before) {
        const hovered = this.near(x, y);
        if (hovered !== this.hovered) { this.hovered = hovered; canvas.style.cursor = hovered === undefined ? "grab" : "pointer"; this.changed(); }
        return;
      }
      pointers.set(event.pointerId, [x, y]);
      moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
      if (pointers.size === 2) {
        const [one, two] = [...pointers.values()], wide = Math.hypot(one[0] - two[0], one[1] - two[1]);
        if (apart) this.zoomBy(wide / apart, (one[0] + two[0]) / 2, (one[1] + two[1]) / 2);
        apart = wide;
      } else if (moved > 4) {
        this.panX += x - before[0];
        this.panY += y - before[1];
        this.changed(true);
      }
    });
    const up = (event) => {
      if (!pointers.delete(event.pointerId) || moved > 4 || event.type !== "pointerup") return;
      const found = this.network.nodes.get(this.near(...place(event), event.pointerType === "touch" ? 26 : 16));
      this.choose(found?.id);
      if (found) this.dispatchEvent(new CustomEvent("pick"));
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => { if (this.hovered !== undefined) { this.hovered = undefined; this.changed(); } });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.deltaY === 0) return; // sideways
      const by = event.deltaY * (WHEEL[event.deltaMode] ?? 1) * (event.ctrlKey ? PER_PINCH : PER_PIXEL);
      this.zoomBy(Math.exp(-Math.max(-MOST_AT_ONCE, Math.min(MOST_AT_ONCE, by))), ...place(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const keys = {
        ArrowLeft: () => this.step(-1, 0), ArrowRight: () => this.step(1, 0), ArrowUp: () => this.step(0, -1), ArrowDown: () => this.step(0, 1),
        "+": () => this.zoomBy(1.25), "-": () => this.zoomBy(0.8), 0: () => this.all(), Escape: () => this.choose(undefined),
        Enter: () => this.dispatchEvent(new CustomEvent("open")),
      };
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  summary(topic) {
    const { totals, overlay, members, known, over } = this.network;
    const there = `${many(totals.up ?? 0, "node")} up, ${number(totals.down ?? 0)} down, ${many(totals.links ?? 0, "connection")}`;
    const unknown = over ? "not told any more, since the run is over" : "not told yet";
    const about = known ? `${many(members.size, "node follows", "nodes follow")} it, ${many(overlay.size, "link")} between them` : unknown;
    return topic ? `${topic.name || short(topic.id)}: ${about}. ${there}.` : `${there}.`;
  }
}
