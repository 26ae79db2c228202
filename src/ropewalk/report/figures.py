"""Charts as inline SVG, the same to the byte for the same numbers; text and axes take the colour of the page."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure

INK = "#0b0c0d"  # drawn in this, then replaced by the page's own text colour: light and dark
SHADES = ("#c2571a", "#2b7a9b", "#6a8f3c", "#8a5fa8")
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


def _svg(figure: Figure) -> Markup:
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    text = re.sub(r"<metadata>.*?</metadata>", "", drawn.getvalue(), flags=re.DOTALL)
    return Markup(text[text.index("<svg") :].replace(INK, "currentColor"))  # noqa: S704 (made here, from numbers)
