"""Rings on flat arrays: who follows what, which links nodes have, and what is to be said of trees over them."""

from ropewalk.protocols.dht.kernel import chord, oscar
from ropewalk.protocols.dht.kernel.interests import Interests, interests_of
from ropewalk.protocols.dht.kernel.rings import Ring, homes
from ropewalk.protocols.dht.kernel.trees import Trees

__all__ = ["Interests", "Ring", "Trees", "chord", "homes", "interests_of", "oscar"]
