"""A view holds at most its size, nobody twice, nobody known to be gone, best first; and no level is exceeded."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.stan.following import Following


class ViewBounds(Invariant):
    """Checked for every topic of the node."""

    name: ClassVar[str] = "view bounds"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        for topic, following in moment.stan.topics.items():
            wrong = _wrong_with(following, moment.now)
            if wrong is not None:
                return f"its view on {topic} {wrong}"
        return None


def _wrong_with(following: Following, now: float) -> str | None:
    view, most = following.overlay.view, following.level.most
    ids = [contact.id for contact in view.contacts]
    ranks = [(view.weigh(other), other) for other in ids]
    wrongs = {
        "does not know whom it holds": view.ids != ids,
        f"holds {len(ids)} neighbours, of {view.size} allowed": len(ids) > view.size,
        f"has {view.size} places, but its level allows {most}": most is not None and view.size > most,
        "holds somebody twice": len(set(ids)) < len(ids),
        "holds somebody whom it takes for gone": any(following.gone.get(node, now) > now for node in ids),
        "is out of order": ranks != sorted(ranks) or [weight for weight, _ in ranks] != view.weights,
    }
    return next((words for words, wrong in wrongs.items() if wrong), None)
