// The network as the server tells it: everything once, then what has changed. After a break everything again.

import { PATIENCE, called, short } from "./words.js";

const FIRST_WAIT = 1000, LONGEST_WAIT = 5000; // milliseconds before it is tried again
const UNSEEN = 10_000; // milliseconds that a page is out of sight until it rests

export class Network extends EventTarget {
  constructor() {
    super();
    this.topic = "";
    this.patience = PATIENCE;
    this.unseen = UNSEEN;
    this.wait = FIRST_WAIT;
    this.clear();
    this.about = {};
    this.totals = {};
    this.at = 0;
    this.lost = this.resting = this.told = this.over = false;
  }

  clear() {
    this.nodes = new Map(); // by number, as they are called until the server begins anew
    this.ids = new Map(); // their numbers, by id
    this.links = new Map(); // "a-b" -> [a, b]
    this.events = new Map(); // by id
    this.points = new Map(); // by time
    this.news = new Map();
    this.clearTopic();
  }

  clearTopic() {
    this.overlay = new Map(); // "a-b" -> [a, b, who holds whom]
    this.members = new Set();
    this.known = false; // whether the server has said who and what these are
  }

  byId(id) {
    return this.nodes.get(this.ids.get(id));
  }

  called(id) {
    // what there is to say of a node that may not be known (any more)
    const node = this.byId(id);
    return node ? called(node) : id ? short(id) : "?";
  }

  open(topic) {
    if (this.source?.topic === topic) return;
    this.topic = topic;
    this.clearTopic(); // what was told is of another one
    if (this.source || (!this.lost && !this.resting && !this.over)) this.connect(); // else it is tried again anyway; one that has not said a word yet is of the other topic all the same
  }

  connect() {
    this.source?.close();
    const source = (this.source = new EventSource(`/api/stream?topic=${encodeURIComponent(this.topic)}`));
    source.topic = this.topic; // for which it was opened
    this.listen();
    source.onmessage = (message) => {
      if (source !== this.source) return;
      this.listen();
      this.wait = FIRST_WAIT;
      this.take(JSON.parse(message.data));
      if (this.lost || !this.told) this.say("good", this.lost && this.told ? "connection back" : "connected");
      this.lost = false;
      this.told = true;
    };
    source.addEventListener("over", () => { if (source === this.source) this.end(); });
    source.onerror = () => { if (source === this.source) this.lose(); };
  }

  close() {
    clearTimeout(this.silence);
    this.source?.close();
    this.source = undefined;
  }

  listen() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.lose(), this.patience); // a connection may hang without an end
  }

  lose() {
    this.close();
    if (!this.lost) this.say("bad", "connection lost: trying again");
    this.lost = true;
    if (!this.resting) this.recover();
  }

  end() {
    // nothing will come any more, and nobody answers
    this.close();
    clearTimeout(this.leaving);
    this.over = true;
    this.say("", "the run is over");
  }

  async recover() {
    if (this.recovering) return; // one at a time
    this.recovering = true;
    for (let why = "?"; why && !this.resting;) {
      why = await this.whyNot();
      if (why) this.say("bad", why);
      await new Promise((done) => setTimeout(done, this.wait));
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    }
    this.recovering = false;
    if (!this.resting) this.connect();
  }

  async whyNot() {
    // why nobody would be told anything; nothing if nothing is against it
    const answer = await fetch("/api/state", { signal: AbortSignal.timeout(this.patience) }).catch(() => undefined);
    if (answer?.status === 401) return "a new token is needed: open the address that was printed";
    if (!answer?.ok) return "connection lost: trying again";
    return (await answer.json().catch(() => ({ full: "connection lost: trying again" }))).full;
  }

  look(hidden) {
    // a browser has only so many connections for all pages, so one that nobody looks at gives its own back
    clearTimeout(this.leaving);
    if (this.over) return;
    if (hidden) this.leaving = setTimeout(() => this.rest(), this.unseen);
    else this.wake();
  }

  rest() {
    this.resting = true;
    this.close();
    this.say("", "resting while nobody looks");
  }

  wake() {
    if (!this.resting) return;
    this.resting = false;
    if (this.lost) this.recover();
    else {
      this.told = false;
      this.connect();
    }
  }

  say(kind, words) {
    this.dispatchEvent(new CustomEvent("connection", { detail: { kind, words } }));
  }

  take(told) {
    if (told.whole) this.clear();
    for (const [number, row] of told.nodes ?? []) {
      const [id, name, x, y, state, why, follows, lvs, pvs, connections] = row;
      this.nodes.set(number, { number, id, name, x, y, state, why, follows, lvs, pvs, connections });
      this.ids.set(id, number);
    }
    for (const [number] of told.nodes_gone ?? []) this.forget(number);
    for (const [a, b] of told.links ?? []) this.links.set(`${a}-${b}`, [a, b]);
    for (const [a, b] of told.links_gone ?? []) this.links.delete(`${a}-${b}`);
    for (const [a, b, who] of told.overlay ?? []) this.overlay.set(`${a}-${b}`, [a, b, who]);
    for (const [a, b] of told.overlay_gone ?? []) this.overlay.delete(`${a}-${b}`);
    for (const [node] of told.members ?? []) this.members.add(node);
    for (const [node] of told.members_gone ?? []) this.members.delete(node);
    for (const [id, [at, publisher, topics, got, expected, hops, took]] of told.events ?? [])
      this.events.set(id, { id, at, publisher, topics: topics.map(([id, name]) => ({ id, name })), got, expected, hops, took });
    for (const [id] of told.events_gone ?? []) this.events.delete(id);
    for (const [at, values] of told.points ?? []) this.points.set(at, values);
    for (const [at] of told.points_gone ?? []) this.points.delete(at);
    for (const [key, row] of told.news ?? []) this.news.set(key, row);
    for (const [key] of told.news_gone ?? []) this.news.delete(key);
    this.known = true;
    this.totals = told.totals;
    this.about = told.about;
    this.at = told.at;
    this.dispatchEvent(new CustomEvent("change", { detail: told }));
  }

  forget(number) {
    const id = this.nodes.get(number)?.id;
    if (this.ids.get(id) === number) this.ids.delete(id); // it may have come back as another one
    this.nodes.delete(number);
  }
}
