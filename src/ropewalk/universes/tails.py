"""Whether a distribution's tail is a power law, as Clauset, Shalizi and Newman (2009) ask it, by the package `powerlaw`.

The tail begins at the value xmin from which a power law fits best (least Kolmogorov-Smirnov distance). Its exponent is
the most likely one. Whether another law fits better is a likelihood ratio: above 0 it speaks for the power law, below 0
for the other, and p says how easily chance alone would bring such a ratio about (Vuong's test).
"""

import math
import warnings
from typing import Any

import numpy as np
import powerlaw
from numpy.typing import NDArray
from scipy.special import zeta

from ropewalk.universes.distributions import Distribution, Longs

Floats = NDArray[np.float64]

SCANNED = (
    100_000  # values among which xmin is looked for: beyond, as many quantiles; on a million that takes 3 s, not 45
)
FITTED = 2_000_000  # values that are fitted to, once xmin is known
SMALLEST_TAIL = 50  # values: fewer agree with anything
STEEPEST = 6.0  # no exponent is looked for beyond
FAINTEST = 1e-12  # of zeta(exponent, xmin): below, the package's differences of cumulative shares lose their digits
SIGNIFICANT = 0.1  # p, as in the paper
OTHERS = ("lognormal", "exponential")


def power_law(distribution: Distribution) -> dict[str, Any]:
    """The fit as a document; where none is possible, the exponent is None. Either way a sentence says it all."""
    if distribution.size < SMALLEST_TAIL:
        return _none(f"there are {distribution.size} values, and a fit to fewer than {SMALLEST_TAIL} says nothing")
    if distribution.values.size <= 2:  # noqa: PLR2004 (through two points goes every law)
        return _none("there are no three different values")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns of its own deprecations and of every step of its search
        lowest = int(distribution.values[0])
        xmin = _xmin(distribution)
        found = _fitted(distribution, xmin)
        at_minimum = found if xmin == lowest else _fitted(distribution, lowest)
        fit = _document(found, distribution, xmin)
        if fit["exponent"] is None:
            return fit
        fit["against"] = {other: _against(found, other) for other in OTHERS}
        fit["from_minimum"] = _document(at_minimum, distribution, lowest)
    return fit | {"sentence": _sentence(fit)}


def share_from(law: dict[str, Any], values: Longs) -> Floats:
    """What share of all values is at least as large as each of these, if the fitted law holds from its xmin on."""
    shares: Floats = zeta(law["exponent"], values) / zeta(law["exponent"], law["xmin"]) * law["tail_share"]
    return shares


def _none(why: str) -> dict[str, Any]:
    return {"exponent": None, "sentence": f"No power law was fitted: {why}."}


def _sentence(fit: dict[str, Any]) -> str:
    verdicts = [_verdict(other, against) for other, against in fit["against"].items()]
    return (
        f"The best power law begins at {fit['xmin']} ({fit['tail_share']:.1%} of the values) and has exponent"
        f" {fit['exponent']:.2f} +- {fit['standard_error']:.2f}; {' and '.join(verdicts)}."
    )


def _verdict(other: str, against: dict[str, Any]) -> str:
    article = "an" if other[0] in "aeiou" else "a"
    if against["better"] == "undecided":
        return f"{article} {other} describes that tail as well"
    return f"{article} {other} describes that tail {'worse' if against['better'] == 'power law' else 'better'}"


def _xmin(distribution: Distribution) -> int:
    """Where the tail begins: of all values that leave a tail large enough, the one from which a power law fits best."""
    highest = int(distribution.ordered(np.array([distribution.size - SMALLEST_TAIL]))[0])
    lowest = int(distribution.values[0])
    candidates = distribution.values[(distribution.values >= lowest) & (distribution.values <= highest)]
    if candidates.size <= 2:  # noqa: PLR2004 (the package wants three to choose from)
        return lowest
    fit = _fit(distribution.spread_out(SCANNED), (lowest, highest + 1))
    return int(fit.xmin)


def _fitted(distribution: Distribution, xmin: int) -> Any:
    return _fit(distribution.spread_out(FITTED), xmin)


def _fit(values: Any, xmin: int | tuple[int, int]) -> Any:
    return powerlaw.Fit(
        values,
        discrete=True,
        estimate_discrete=False,  # the exact likelihood, not its approximation for large xmin
        xmin=xmin,
        parameter_ranges={"alpha": (1.0, STEEPEST)},
        verbose=0,
    )


def _document(fit: Any, distribution: Distribution, xmin: int) -> dict[str, Any]:
    exponent = float(fit.power_law.alpha)
    if not math.isfinite(exponent) or exponent > STEEPEST - 0.05 or zeta(exponent, xmin) < FAINTEST:
        return _none(f"from {xmin} on it falls faster than a power law of exponent {STEEPEST:.0f}")
    tail = int(distribution.counts[distribution.values >= xmin].sum())
    return {
        "exponent": exponent,
        "standard_error": (exponent - 1) / math.sqrt(tail),
        "xmin": xmin,
        "tail": tail,
        "tail_share": tail / distribution.size,
        "ks": float(fit.power_law.D),
    }


def _against(fit: Any, other: str) -> dict[str, Any]:
    ratio, p = (float(number) for number in fit.distribution_compare("power_law", other, normalized_ratio=True))
    if not (math.isfinite(ratio) and math.isfinite(p)):
        return {"ratio": None, "p": None, "better": "undecided"}
    better = "undecided" if p > SIGNIFICANT else "power law" if ratio > 0 else other
    return {"ratio": ratio, "p": p, "better": better}
