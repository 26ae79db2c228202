"""The HTML page of one universe: how subscriptions are spread, which topics go together, how alike followers are."""

from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from ropewalk.experiments.describe import SPREAD, Description
from ropewalk.report.figures import Line, heat_map, log_log
from ropewalk.report.page import Section, rendered, write_page
from ropewalk.universes.distributions import Distribution, Longs
from ropewalk.universes.tails import share_from

POINTS = 200  # of a distribution that are drawn
POINTS_SHOWN = ("mean", "median", "p90", "p99", "max", "min")
EVERYTHING = "power law of everything"
CEILING = 0.05  # the least correlation that is drawn at full strength


def write_description(path: Path, found: Description) -> None:
    """Write the page of a description to `path`."""
    write_page(path, render(found))


def render(found: Description) -> str:
    """The text of the page."""
    document = found.document
    distributions = (found.subscribers_per_topic, found.subscriptions_per_node)
    sections = [_spread(document, name, shown) for name, shown in zip(SPREAD, distributions, strict=True)]
    if "mean" in document["topic_correlation"]:
        sections.append(_correlation(found))
    return rendered(
        "universe.html.j2",
        document=document,
        spread=SPREAD,
        points=POINTS_SHOWN,
        sections=sections,
        command=_command(document),
    )


def _spread(document: dict[str, Any], name: str, distribution: Distribution) -> Section:
    words, fit = SPREAD[name], document[name]["power_law"]
    unit, counted = words.split(" per ")[::-1]
    at_least = distribution.counts[::-1].cumsum()[::-1] / distribution.size
    drawn = _spaced(distribution.values)
    lines = [Line("measured", distribution.values[drawn].tolist(), at_least[drawn].tolist(), shade=1)]
    rows = []
    for said, law in _fits(fit).items():
        lines.append(_law(distribution, law, said))
        rows.append(
            [
                said,
                f"{law['exponent']:.3f}",
                f"{law['standard_error']:.3f}",
                str(law["xmin"]),
                str(law["tail"]),
                f"{law['ks']:.4f}",
            ]
        )
    return Section(
        title=words[0].upper() + words[1:],
        figure=log_log(lines, f"{counted} of a {unit}", f"share of {unit}s with at least so many"),
        reading=f"{fit['sentence']} A power law is a straight line here.",
        columns=["", "exponent", "standard error", "from", "values", "KS distance"],
        rows=rows,
    )


def _fits(fit: dict[str, Any]) -> dict[str, dict[str, Any]]:
    if fit["exponent"] is None:
        return {}
    from_minimum = fit["from_minimum"]
    if from_minimum["exponent"] is None or from_minimum["xmin"] == fit["xmin"]:
        return {"power law": fit}
    return {"power law of the tail": fit, EVERYTHING: from_minimum}


def _law(distribution: Distribution, law: dict[str, Any], said: str) -> Line:
    """A fitted law, from its xmin to the largest value."""
    values = np.unique(np.geomspace(law["xmin"], distribution.values[-1], 40).round().astype(np.int64))
    return Line(
        f"{said}, exponent {law['exponent']:.2f}",
        values.tolist(),
        share_from(law, values).tolist(),
        shade=2 if said == EVERYTHING else 0,
        dashed=True,
    )


def _spaced(values: Longs) -> Longs:
    """Places of at most about `POINTS` values, evenly spaced on a logarithmic axis, the first and the last among them."""
    if values.size <= POINTS:
        return np.arange(values.size)
    wanted = np.geomspace(values[0], values[-1], POINTS)
    return np.unique(np.append(np.searchsorted(values, wanted).clip(0, values.size - 1), (0, values.size - 1)))


def _correlation(found: Description) -> Section:
    of = found.document["topic_correlation"]
    pairs = found.topic_matrix[np.triu_indices_from(found.topic_matrix, 1)]
    limit = max(CEILING, float(np.quantile(np.abs(pairs), 0.99)))
    which = f"all {of['topics']} topics" if of["exact"] else f"{of['topics']} of {of['of']} topics, drawn by chance"
    figure: Markup = heat_map(found.topic_matrix, limit, "Pearson correlation of two topics")
    rows = [["mean", f"{of['mean']['value']:.4f}"], ["mean of |r|", f"{of['mean_absolute']['value']:.4f}"]]
    rows += [[quantile, f"{value:.4f}"] for quantile, value in of["quantiles"].items()]
    return Section(
        title="Which topics go together",
        figure=figure,
        reading=f"The correlation of {which} over all nodes; a square of colour along the diagonal is a group of topics with the same"
        f" followers. Topics are ordered by average-linkage clustering; colours are full at {limit:.2f}.",
        columns=["over pairs of topics", "correlation"],
        rows=rows,
    )


def _command(document: dict[str, Any]) -> str:
    return f"ropewalk describe UNIVERSE --seed {document['seed']} --draws {document['overlap']['asked']} --report universe.html"
