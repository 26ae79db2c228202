"""By what a node ranks others, on single ids; `stan.kernel.weights` has the same rules on arrays."""

from ropewalk.ids import SPARK_SEED, mix_long
from ropewalk.protocols.stan.settings import Weight
from ropewalk.protocols.view import Weigh

LOW_63 = 2**63 - 1


def weigher(kind: Weight, me: int, key: int) -> Weigh:
    """The weights that the node `me` gives. With `keyed` its secret `key` stands for its id."""
    match kind:
        case "printed" | "keyed":
            state = mix_long(key if kind == "keyed" else me, SPARK_SEED)
            return lambda other: mix_long(other, state) >> 1
        case "pair":  # the lower id is hashed first, whoever asks
            return lambda other: mix_long(max(me, other), mix_long(min(me, other), SPARK_SEED)) >> 1
        case "target":
            return lambda other: mix_long(other, SPARK_SEED) >> 1
        case "ring":
            return lambda other: (other - me) & LOW_63
