"""A view holds at most its size, nobody twice, best first; and no walk or level lets it grow beyond what is allowed."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment


class ViewBounds(Invariant):
    """Checked for every topic of the node."""

    name: ClassVar[str] = "view bounds"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        for topic, following in moment.node.topics.items():
            view = following.overlay.view
            ids = [contact.id for contact in view.contacts]
            if view.ids != ids:
                return f"its view on {topic} does not know whom it holds"
            if len(ids) > view.size:
                return f"holds {len(ids)} neighbours on {topic}, of {view.size} allowed"
            if following.level.most is not None and view.size > following.level.most:
                return f"may hold {view.size} neighbours on {topic}, but its level allows {following.level.most}"
            if len(set(ids)) < len(ids):
                return f"holds somebody twice on {topic}"
            ranks = [(view.weigh(other), other) for other in ids]
            if ranks != sorted(ranks) or [weight for weight, _ in ranks] != view.weights:
                return f"its view on {topic} is out of order"
        return None
