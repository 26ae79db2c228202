"""Magnet on flat arrays: who sits where, which links there are, what every topic's tree costs.

Paper: Magnet (Girdzijauskas et al.), sections 2.2, 3.1 to 3.4. Readings and departures stand in docs/papers/magnet.md.
"""

from ropewalk.protocols.magnet.kernel.batch import Interests, Ring, Trees, interests_of
from ropewalk.protocols.magnet.kernel.fingers import linked
from ropewalk.protocols.magnet.kernel.joins import joined
from ropewalk.protocols.magnet.kernel.trees import grown, homes

__all__ = ["Interests", "Ring", "Trees", "grown", "homes", "interests_of", "joined", "linked"]
