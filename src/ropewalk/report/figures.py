"""Charts as inline SVG, the same to the byte for the same numbers; text and axes take the colour of the page."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ropewalk.papers.drawing import Curve, Panel

INK = "#0b0c0d"  # drawn in this, then replaced by the page's own text colour: light and dark
FINEST = 200  # squares along the side of a heat map
SHADES = ("#c2571a", "#2b7a9b", "#6a8f3c", "#8a5fa8", "#b08900", "#4f5fb5", "#a83f6f", "#4d8f86")
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "ropewalk",  # fixed, or every drawing gets new ids
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    shade: int = 0
    dashed: bool = False


def chart(lines: Sequence[Line], x_label: str, y_label: str, *, steps: bool = False) -> Markup:
    """Lines over common axes that start at 0, each named at its side of the legend."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 3.4), layout="constrained")
        axes = figure.add_subplot()
        for line in lines:
            axes.plot(
                line.x,
                line.y,
                label=line.label,
                color=SHADES[line.shade],
                linestyle="--" if line.dashed else "-",
                linewidth=1.8,
                marker="" if steps else "o",
                markersize=4,
            )
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, color=INK, alpha=0.12, linewidth=0.8)
        axes.legend(frameon=False, loc="best")
        return _svg(figure)


def log_log(lines: Sequence[Line], x_label: str, y_label: str) -> Markup:
    """Lines over logarithmic axes; solid ones are measured and drawn as points, dashed ones are laws."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 3.4), layout="constrained")
        axes = figure.add_subplot()
        for line in lines:
            axes.plot(
                line.x,
                line.y,
                label=line.label,
                color=SHADES[line.shade],
                linestyle="--" if line.dashed else "",
                linewidth=1.8,
                marker="" if line.dashed else "o",
                markersize=3,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.grid(visible=True, color=INK, alpha=0.12, linewidth=0.8)
        axes.legend(frameon=False, loc="best")
        return _svg(figure)


def panels_inline(panels: Sequence[Panel]) -> Markup:
    """A claim's figure for a page: its panels, two side by side."""
    with mpl.rc_context(STYLE):
        return _svg(_laid_out(panels))


def panels_standalone(panels: Sequence[Panel]) -> str:
    """The same as an SVG file of its own, on white."""
    with mpl.rc_context(STYLE):
        drawn = io.StringIO()
        _laid_out(panels).savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return drawn.getvalue()


def _laid_out(panels: Sequence[Panel]) -> Figure:
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(10.4 if across > 1 else 7.0, 3.6 * down), layout="constrained")
    for number, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(down, across, number)
        for curve in panel.curves:
            axes.plot(*zip(*curve.points, strict=True), label=curve.label, **_look(curve))
        axes.set_title(panel.title, fontsize=10)
        axes.set_xlabel(panel.x)
        axes.set_ylabel(panel.y)
        axes.set_xscale("log" if panel.log_x else "linear")
        axes.set_yscale("log" if panel.log_y else "linear")
        if not panel.log_y and min(y for curve in panel.curves for _, y in curve.points) >= 0:
            axes.set_ylim(bottom=0)
        axes.grid(visible=True, color=INK, alpha=0.12, linewidth=0.8)
        axes.legend(frameon=False, loc="best", fontsize=8)
    return figure


def _look(curve: Curve) -> dict[str, Any]:
    look: dict[str, Any] = {"color": SHADES[curve.shade % len(SHADES)], "linewidth": 1.6, "markersize": 3}
    if curve.kind == "line":
        return look | {"marker": "o"}
    if curve.kind == "points":
        return look | {"marker": "o", "linestyle": "", "alpha": 0.7, "markersize": 4}
    if curve.kind == "steps":
        return look | {"drawstyle": "steps-post"}
    return look | {"linestyle": "--"}


def heat_map(matrix: NDArray[np.float64], limit: float, label: str) -> Markup:
    """A square of values from -limit to limit: one shade above 0, another below, and 0 lets the page shine through."""
    warm, cold = (tuple(int(shade[at : at + 2], 16) / 255 for at in (1, 3, 5)) for shade in SHADES[:2])
    stops = [(0.0, (*cold, 1.0)), (0.5, (*cold, 0.0)), (0.5, (*warm, 0.0)), (1.0, (*warm, 1.0))]
    shades = LinearSegmentedColormap.from_list("correlation", stops)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 5.6), layout="constrained")
        axes = figure.add_subplot()
        shown = axes.imshow(_coarse(matrix), cmap=shades, vmin=-limit, vmax=limit, interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(True)
        figure.colorbar(shown, ax=axes, label=label, shrink=0.8)
        return _svg(figure)


def _coarse(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of squares of equal size (the last ones may be smaller), so that a page stays small."""
    size = matrix.shape[0]
    cuts = np.arange(0, size, -(-size // FINEST))
    sums = np.add.reduceat(np.add.reduceat(matrix, cuts, axis=0), cuts, axis=1)
    sides = np.diff(np.append(cuts, size))
    return np.asarray(sums / np.outer(sides, sides))


def _svg(figure: Figure) -> Markup:
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    text = re.sub(r"<metadata>.*?</metadata>", "", drawn.getvalue(), flags=re.DOTALL)
    return Markup(text[text.index("<svg") :].replace(INK, "currentColor"))  # noqa: S704 (made here, from numbers)
