"""StaN on flat arrays, many topics a call: initial overlays, rounds of walks, the best possible, and a digest of links.

Papers: StaN (Matos et al.), Algorithms 1 and 2 and sections 2.3, 2.4, 3.3; StAN (the workshop paper), Listing 1 and
section 3. Readings, departures and the rules word by word stand in docs/papers/stan.md.

Every choice is labelled by topic and node id, so nothing depends on which topics share a batch, nor on how many
threads share a round.
"""

from ropewalk.protocols.stan.kernel.batch import Members, Overlays, Stage
from ropewalk.protocols.stan.kernel.best import omniscient
from ropewalk.protocols.stan.kernel.digest import digests
from ropewalk.protocols.stan.kernel.overlays import initial
from ropewalk.protocols.stan.kernel.run import rounds

__all__ = ["Members", "Overlays", "Stage", "digests", "initial", "omniscient", "rounds"]
