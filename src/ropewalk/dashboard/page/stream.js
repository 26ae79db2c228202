// The network as the server tells it: everything once, then what has changed. After a break everything again.

export class Network extends EventTarget {
  constructor() {
    super();
    this.topic = "";
    this.clear();
    this.about = {};
    this.totals = {};
    this.at = 0;
    this.lost = false;
  }

  clear() {
    this.nodes = new Map(); // by number
    this.links = new Map(); // "a-b" -> [a, b]
    this.overlay = new Map(); // "a-b" -> [a, b, who holds whom]
    this.members = new Set();
    this.events = new Map(); // by id
    this.points = new Map(); // by time
    this.news = new Map();
  }

  byId(id) {
    for (const node of this.nodes.values()) if (node.id === id) return node;
    return undefined;
  }

  open(topic) {
    this.topic = topic;
    this.source?.close();
    const source = (this.source = new EventSource(`/api/stream?topic=${encodeURIComponent(topic)}`));
    source.onmessage = (message) => {
      this.take(JSON.parse(message.data));
      if (this.lost || !this.told) this.say("good", this.lost ? "connection back" : "connected");
      this.lost = false;
      this.told = true;
    };
    source.onerror = () => {
      if (source !== this.source) return;
      if (!this.lost) this.say("bad", "connection lost: trying again");
      this.lost = true;
      if (source.readyState === EventSource.CLOSED) this.retry(); // an answer that is none: browsers give up then
    };
  }

  async retry() {
    const answer = await fetch("/api/state").catch(() => undefined);
    if (answer?.status === 401) this.say("bad", "a new token is needed: open the address that was printed");
    if (answer?.ok) this.open(this.topic);
    else setTimeout(() => this.retry(), 2000);
  }

  say(kind, words) {
    this.dispatchEvent(new CustomEvent("connection", { detail: { kind, words } }));
  }

  take(told) {
    if (told.whole) this.clear();
    for (const [number, row] of told.nodes ?? []) {
      const [id, name, x, y, state, why, follows, lvs, pvs, connections] = row;
      this.nodes.set(number, { number, id, name, x, y, state, why, follows, lvs, pvs, connections });
    }
    for (const [number] of told.nodes_gone ?? []) this.nodes.delete(number);
    for (const [a, b] of told.links ?? []) this.links.set(`${a}-${b}`, [a, b]);
    for (const [a, b] of told.links_gone ?? []) this.links.delete(`${a}-${b}`);
    for (const [a, b, who] of told.overlay ?? []) this.overlay.set(`${a}-${b}`, [a, b, who]);
    for (const [a, b] of told.overlay_gone ?? []) this.overlay.delete(`${a}-${b}`);
    for (const [node] of told.members ?? []) this.members.add(node);
    for (const [node] of told.members_gone ?? []) this.members.delete(node);
    for (const [id, [at, publisher, topics, got, expected, hops, took]] of told.events ?? [])
      this.events.set(id, { id, at, publisher, topics, got, expected, hops, took });
    for (const [id] of told.events_gone ?? []) this.events.delete(id);
    for (const [at, values] of told.points ?? []) this.points.set(at, values);
    for (const [at] of told.points_gone ?? []) this.points.delete(at);
    for (const [key, row] of told.news ?? []) this.news.set(key, row);
    for (const [key] of told.news_gone ?? []) this.news.delete(key);
    this.totals = told.totals;
    this.about = told.about;
    this.at = told.at;
    this.dispatchEvent(new CustomEvent("change", { detail: told }));
  }
}
