"""The state of a network, from rows in whatever order they come: who is there, who is linked with whom, what travels.

Rows in, and out what is different since some version (`since`), or all of it. It reads no file and no clock: time is what rows say, when
they were read, and what `advance` is told. Everything in it is bounded: where nodes are too many, those that are gone are forgotten.
"""

from collections.abc import Mapping
from typing import Any

from ropewalk.dashboard import rows
from ropewalk.dashboard.judging import GRACE, Judge
from ropewalk.dashboard.layout import Place, first_place
from ropewalk.dashboard.ledger import Ledger, Links, Versions
from ropewalk.dashboard.overlays import Overlay
from ropewalk.dashboard.seen import Moment, Seen, State, forgettable
from ropewalk.dashboard.series import Series
from ropewalk.dashboard.travels import Step, Travels

MOST_NODES = 5000  # ours: that are drawn; what others say is only counted
AT_ONCE = 100  # ours: nodes that are forgotten together, since to find them takes a look at all
AGAIN = 1.0  # ours, seconds: after which it is looked again for some to forget, if there were none
MOST_TOPICS = 20_000  # ours: likewise
MOST_NAMES = 100_000  # ours: of topics
MOST_NEWS = 100  # ours: of what happened, the last


class Picture:
    """Of one network."""

    def __init__(self, places: Mapping[int, Place] | None = None) -> None:
        self.versions = Versions()
        self.now = 0.0
        self.nodes: dict[int, Seen] = {}
        self.overlays: dict[int, Overlay] = {}
        self.names: dict[int, str] = {}  # of topics
        self.travels = Travels(self.versions, self.names)
        self.series = Series(self.versions)
        self.shown: Ledger[int, list[Any]] = Ledger(self.versions)  # nodes, by number
        self.links = Links(self.versions)  # a link is drawn as long as one end says that it is connected
        self.news: Ledger[int, list[Any]] = Ledger(self.versions)
        self.places: Mapping[int, Place] = places or {}
        self.shifts = 0  # how often something changed that places depend on
        self.beyond = 0  # how often nodes or topics were named for which there is no room
        self._told = 0
        self._row = 0
        self._numbered = 0
        self._full_until = 0.0
        self._judge = Judge()
        self._counted = (0, 0)  # published and delivered at the last point

    # What comes in

    def take(self, row: rows.Any, name: str = "", read: float | None = None) -> None:
        """One row, of the file that is called so, read then; None if that is when it says."""
        self._row += 1
        at = rows.time_of(row)
        if at:
            self.advance(at)
        if isinstance(row, rows.OfNode):
            moment = Moment(at, at if read is None else read)
            node = self._heard(row, name, moment)
            if node is not None:
                self._take_of(node, row, moment)
                self._show(node)
        elif isinstance(row, rows.Named):
            self._name(row.topic, row.name)
        elif isinstance(row, rows.Published):
            self._published(row)

    def advance(self, now: float) -> None:
        """It is as late as this: draw points, and give up who was doubted and says nothing."""
        if now <= self.now:
            return
        while self.nodes and (due := self.series.due(now)) is not None:
            self._give_up(due)
            self.series.take(due, self._point())
        self._give_up(now)
        self.now = now

    def turn_back(self, now: float) -> None:
        """The clock of who looks was set back: what seemed to be later was now."""
        self.now, self._full_until = now, 0.0
        self.series.turn_back(now)
        for node in self.nodes.values():
            node.turn_back(now)
        self._judge.look_again()

    def put(self, places: Mapping[int, Place]) -> None:
        """Draw nodes there from now on."""
        self.places = places
        for node in self.nodes.values():
            self._show(node)

    def _take_of(self, node: Seen, row: rows.OfNode, moment: Moment) -> None:
        match row:
            case rows.Came():
                self._came(node, row, moment)
            case rows.Followed():
                self._followed(node, row)
            case rows.Held():
                self._held(node, row)
            case rows.Linked():
                self._linked(node, row, moment)
            case rows.Ended():
                self._ended(node, row, moment)
            case rows.Delivered():
                if row.source is not None:
                    self._other(row.source)
                self.travels.deliver(row.event, Step(node.id, row.source, row.hops, row.at))
            case _:
                pass

    def _heard(self, row: rows.OfNode, name: str, moment: Moment) -> Seen | None:
        """Whose row it is: it lives."""
        node = self._other(row.node)
        if node is None:
            return None
        node.heard = Moment(max(node.heard.at, moment.at), max(node.heard.read, moment.read))
        node.name = node.name or name
        self._judge.trust(node, moment)
        if node.state != "up" and moment.after(node.since):
            self._turn(node, "up", moment, "came" if node.state == "elsewhere" else "is back")
        return node

    def _other(self, id_: int) -> Seen | None:
        """A node that is known, or one that is heard of for the first time; None if there are too many."""
        node = self.nodes.get(id_)
        if node is None:
            if len(self.nodes) >= MOST_NODES:
                self._make_room()
            if len(self.nodes) >= MOST_NODES:
                self.beyond += 1
                return None
            if not self.nodes:
                self.series.due(self.now)  # points begin with the first node, whenever somebody looks
            node = self.nodes[id_] = Seen(self._numbered, id_)
            self._numbered += 1
            self.shifts += 1
            self._show(node)
        node.named = self._row
        return node

    def _make_room(self) -> None:
        """Forget some who are gone; nobody who is up, or whom anybody is linked with."""
        if self.now < self._full_until:
            return
        for node in forgettable(self.nodes, self._row)[:AT_ONCE]:
            self._forget(node)
            self.shown.drop(node.number)
            del self.nodes[node.id]
        if len(self.nodes) >= MOST_NODES:
            self._full_until = self.now + AGAIN

    def _came(self, node: Seen, row: rows.Came, moment: Moment) -> None:
        node.address, node.protocol, node.signs = row.address, row.protocol, True
        self._judge.listen(node)
        if row.up:
            self._forget(node)  # what it did in a former life is over
            self.shifts += 1
        else:
            self._turn(node, "left", moment, "left")

    def _followed(self, node: Seen, row: rows.Followed) -> None:
        if row.name:
            self._name(row.topic, row.name)
        overlay = self._overlay(row.topic)
        if overlay is None:
            return
        if row.follows:
            node.follows[row.topic] = not row.filters
            if node.state == "up":
                overlay.join(node.number, wants_all=not row.filters)
        else:
            node.follows.pop(row.topic, None)
            overlay.part(node.number)

    def _name(self, topic: int, name: str) -> None:
        if self.names.get(topic) != name and (topic in self.names or len(self.names) < MOST_NAMES):
            self.names[topic] = name
            self.travels.name(topic)

    def _held(self, node: Seen, row: rows.Held) -> None:
        overlay = self._overlay(row.topic)
        if overlay is None:
            return
        self.shifts += 1
        others = [other for id_ in row.neighbours if (other := self._other(id_)) is not None]
        if node.state == "up":
            overlay.hold(node.number, [other.number for other in others])
        if others:
            node.held[row.topic] = tuple(other.id for other in others)
        else:
            node.held.pop(row.topic, None)
        self._count(node, row.at)

    def _linked(self, node: Seen, row: rows.Linked, moment: Moment) -> None:
        for id_ in row.up:
            other = self._other(id_)
            if other is None:
                continue
            node.links[id_] = None
            if node.state == "up":
                self.links.say(node.number, other.number, there=True)
            self._judge.trust(other, moment)
        for id_ in row.down:
            self._unlink(node, id_)
        self._count(node, row.at)

    def _ended(self, node: Seen, row: rows.Ended, moment: Moment) -> None:
        self._unlink(node, row.neighbour)
        self._count(node, row.at)
        other = self.nodes.get(row.neighbour)
        if other is None or row.cause == "closed" or row.why not in GRACE:
            return
        if other.state == "up" and other.heard.at <= row.at and other.doubted is None:
            self._judge.doubt(other, moment, row.why)

    def _published(self, row: rows.Published) -> None:
        publisher = self._other(row.publisher)
        if publisher is None:
            return
        wanting: dict[int, bool] = {}
        for topic in row.topics:
            overlay = self._overlay(topic)
            for node, wants_all in overlay.members.items() if overlay is not None else ():
                wanting[node] = wants_all or wanting.get(node, False)
        wanting.pop(publisher.number, None)
        expected = (
            len(wanting) if all(wanting.values()) else 0
        )  # of who wants only some it is not known whether this is one
        self.travels.publish(row.event, publisher.id, tuple(row.topics), row.size, row.at, expected)

    # What follows from it

    def _overlay(self, topic: int) -> Overlay | None:
        overlay = self.overlays.get(topic)
        if overlay is None:
            if len(self.overlays) >= MOST_TOPICS:
                self.beyond += 1
                return None
            overlay = self.overlays[topic] = Overlay(self.versions)
        return overlay

    def _unlink(self, node: Seen, id_: int) -> None:
        node.links.pop(id_, None)
        other = self.nodes.get(id_)
        if other is not None:
            self.links.say(node.number, other.number, there=False)

    def _forget(self, node: Seen) -> None:
        """Nothing that it has said of itself is so any more."""
        self._withdraw(node)
        node.follows, node.held, node.links = {}, {}, {}

    def _withdraw(self, node: Seen) -> None:
        """What it has said of itself counts no longer."""
        for id_ in node.links:
            other = self.nodes.get(id_)
            if other is not None:
                self.links.say(node.number, other.number, there=False)
        for topic in {**node.follows, **node.held}:
            self.overlays[topic].hold(node.number, [])
            self.overlays[topic].part(node.number)
        node.lvs = node.pvs = 0

    def _put_back(self, node: Seen, at: float) -> None:
        """It counts again, for as much as who is named in it is known, or there is room for."""
        for topic, wants_all in node.follows.items():
            self.overlays[topic].join(node.number, wants_all=wants_all)
        for topic, held in list(node.held.items()):
            others = [other for id_ in held if (other := self._other(id_)) is not None]
            self.overlays[topic].hold(node.number, [other.number for other in others])
            node.held[topic] = tuple(other.id for other in others)
        for id_ in list(node.links):
            other = self._other(id_)
            if other is None:
                del node.links[id_]
            else:
                self.links.say(node.number, other.number, there=True)
        self._count(node, at)

    def _turn(self, node: Seen, state: State, moment: Moment, why: str) -> None:
        node.state, node.why, node.since = state, why, moment
        self.shifts += 1
        self._judge.acquit(node)
        if state == "up":
            self._judge.listen(node)
            self._put_back(node, moment.at)
        elif state == "left":
            self._forget(node)
        else:
            self._withdraw(node)
        if state != "up":
            node.history.append((moment.at, 0, 0, 0))
        self._told += 1
        self.news.put(self._told, [moment.at, node.number, state, why])
        self.news.drop(self._told - MOST_NEWS)
        self._show(node)

    def _give_up(self, now: float) -> None:
        """Who was doubted for long enough is down, and so is who has said nothing for very long."""
        for verdict in self._judge.verdicts(self.nodes.values(), now):
            self._turn(verdict.node, "down", verdict.moment, verdict.why)

    def _count(self, node: Seen, at: float) -> None:
        if node.state != "up":
            return
        node.lvs = sum(map(len, node.held.values()))
        node.pvs = len({other for held in node.held.values() for other in held})
        values = (at, node.lvs, node.pvs, len(node.links))
        if not node.history or node.history[-1][1:] != values[1:]:
            node.history.append(values)

    def _show(self, node: Seen) -> None:
        x, y = self.places.get(node.id) or first_place(node.id)
        shown = [f"{node.id:016x}", node.name, x, y, node.state, node.why, len(node.counts.follows), node.lvs, node.pvs]
        self.shown.put(node.number, [*shown, len(node.counts.links)])

    def _point(self) -> list[Any]:
        """Nodes up and down, what the former hold on average, events published and delivered since the last point."""
        there = [node for node in self.nodes.values() if node.state == "up"]
        down = sum(node.state == "down" for node in self.nodes.values())
        count = max(1, len(there))
        means = [round(sum(getattr(node, name) for node in there) / count, 2) for name in ("lvs", "pvs")]
        means.append(round(sum(len(node.links) for node in there) / count, 2))
        travels, before = self.travels, self._counted
        self._counted = (travels.published, travels.delivered)
        rates = [(new - old) / self.series.step for new, old in zip(self._counted, before, strict=True)]
        return [len(there), down, *means, *rates]

    # What goes out

    def totals(self) -> dict[str, Any]:
        """Everything in numbers."""
        states = [node.state for node in self.nodes.values()]
        there = [node for node in self.nodes.values() if node.state == "up"]
        count = max(1, len(there))
        return {
            **{state: states.count(state) for state in ("up", "left", "down", "elsewhere")},
            "topics": sum(bool(overlay.members) for overlay in self.overlays.values()),
            "subscriptions": sum(len(node.follows) for node in there),
            "links": len(self.links),
            "logical_links": sum(node.lvs for node in there),
            "lvs": round(sum(node.lvs for node in there) / count, 2),
            "pvs": round(sum(node.pvs for node in there) / count, 2),
            "connections": round(sum(len(node.links) for node in there) / count, 2),
            "published": self.travels.published,
            "delivered": self.travels.delivered,
            "beyond": self.beyond,
        }

    def since(self, version: int, topic: int | None = None) -> dict[str, Any]:
        """What is different since a version, with one topic's overlay; everything (`whole`) for version 0, and if too much was missed."""
        overlay = self.overlays.get(topic) if topic is not None else None
        parts: dict[str, Ledger[Any, Any]] = {
            "nodes": self.shown,
            "links": self.links,
            "events": self.travels.shown,
            "points": self.series.points,
            "news": self.news,
        }
        if overlay is not None:
            parts |= {"members": overlay.members_shown, "overlay": overlay.links}
        if not all(ledger.remembers(version) for ledger in parts.values()):
            version = 0
        told: dict[str, Any] = {"version": self.versions.now, "whole": version == 0, "at": self.now}
        for name, ledger in parts.items():
            put, gone = ledger.since(version)
            if put:
                told[name] = [[*_key(key), value] for key, value in put.items()]
            if gone and version:
                told[f"{name}_gone"] = [_key(key) for key in gone]
        told["totals"] = self.totals()
        return told

    def weights(self) -> dict[tuple[int, int], int]:
        """Links by how many topics share them, in the ids of their ends: what positions follow from."""
        found: dict[tuple[int, int], int] = {}
        for node in self.nodes.values():
            for held in node.counts.held.values():
                for other in held:
                    pair = (min(node.id, other), max(node.id, other))
                    found[pair] = found.get(pair, 0) + 1
        return found


def _key(key: Any) -> list[Any]:
    return list(key) if isinstance(key, tuple) else [key]
