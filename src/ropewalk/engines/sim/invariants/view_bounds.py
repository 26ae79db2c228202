"""A view holds at most its size, nobody twice, nobody known to be gone, best first; and no level is exceeded."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.stan.following import Following


class ViewBounds(Invariant):
    """Checked for every topic of the node."""

    name: ClassVar[str] = "view bounds"

    def __init__(self) -> None:
        self._sound: dict[Following, tuple[list[int], list[int]]] = {}  # ids and weights that were found to be in order

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        for topic, following in moment.stan.topics.items():
            wrong = _wrong_with(following, moment.now)
            wrong = wrong or self._wrong_order(following, changing=bool(moment.stan.settings.shared))
            if wrong is not None:
                return f"its view on {topic} {wrong}"
        return None

    def _wrong_order(self, following: Following, *, changing: bool) -> str | None:
        """Weights are hashes: they are only made anew where the view has changed, or weights may without it."""
        view = following.overlay.view
        if not changing and self._sound.get(following) == (view.ids, view.weights):
            return None
        ranks = [(view.weigh(other), other) for other in view.ids]
        if ranks != sorted(ranks) or [weight for weight, _ in ranks] != view.weights:
            return "is out of order"
        self._sound[following] = (list(view.ids), list(view.weights))
        return None


def _wrong_with(following: Following, now: float) -> str | None:
    view, most = following.overlay.view, following.level.most
    ids = [contact.id for contact in view.contacts]
    if view.ids != ids:
        return "does not know whom it holds"
    if len(ids) > view.size:
        return f"holds {len(ids)} neighbours, of {view.size} allowed"
    if most is not None and view.size > most:
        return f"has {view.size} places, but its level allows {most}"
    if len(set(ids)) < len(ids):
        return "holds somebody twice"
    if following.gone and any(following.gone.get(node, now) > now for node in ids):
        return "holds somebody whom it takes for gone"
    return None
