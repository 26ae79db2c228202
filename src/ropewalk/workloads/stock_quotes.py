"""Stock quotes: events say what a stock costs, and a node wants those of some stocks at some prices.

Paper: Kato et al. section IV. An event is (stock, price), a subscription (stock, low, high). The event space is cut
into cells, stocks by ranges of price. Subscriptions are uniform, or "distributed according to a Pareto law x^-a"; the
paper says neither what x is nor how many stocks, prices or subscriptions there are, so the sizes here are ours.

A filter starts from one point of the event space: a cell is drawn by the law, then a price in it. The range of prices
lies around that point. It has a fixed width, and is moved where it would stick out at either end; or both of its ends are
drawn, uniformly between the point and the end of all prices.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.arrays.chance import drawn_by, permuted, stream, unit
from ropewalk.arrays.compiled import compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.errors import UsageError
from ropewalk.parameters import parameter, refuse_unless
from ropewalk.workloads.thresholds import slices_of

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

Law = Literal["rank", "pdf", "ccdf", "uniform"]
Ranges = Literal["fixed", "random"]
CHOICES: dict[str, tuple[str, ...]] = {"law": get_args(Law), "ranges": get_args(Ranges)}

LARGEST = 10_000_000  # of nodes
MOST_CELLS = 1_000_000  # each task holds the popularity of every cell
MOST_FILTERS = 1000  # of a node
PRICES = 100.0  # prices run from 0 to here; the unit is of no account
STEEPEST = 8.0
WIDTH = 0.125  # ours: two cells wide, so that a filter touches two or three
RANDOM = -1.0  # no width


@dataclass(frozen=True, slots=True, kw_only=True)
class StockQuotes:
    """Cells are ranked at random: that one is popular says nothing of those beside it."""

    name: ClassVar[str] = "stock-quotes"
    sentence: ClassVar[str] = "Content filters: a node wants the quotes of some stocks within some ranges of prices."

    nodes: int = parameter("How many nodes (Kato IV: up to 4000).", default=4000)
    # Ours: with 16 price cells there are 1024 cells, as many as the ids of the paper have bits.
    stocks: int = parameter("How many stocks.", default=64)
    price_cells: int = parameter("How many cells the prices of a stock are cut into.", default=16)
    filters_per_node: int = parameter("How many (stock, low, high) a node wants.", default=4)  # ours: a small portfolio
    # Ours: what most people want is narrow. Random ones contain each other, as the paper's hierarchy needs.
    ranges: Ranges = parameter("Whether ranges of prices are of one width, or have random ends.", default="fixed")
    # Ours: "subscriptions distributed according to a law" may mean whole ones, or where they lie.
    alike: bool = parameter("Whether all that start from one cell want the same range.", default=False)
    width: float = parameter("Of a fixed range of prices, as a share of all prices.", default=WIDTH)
    # Ours: the reading under which every exponent the paper mentions makes sense.
    law: Law = parameter(
        "How popular the cell of rank x is: x^-exponent (rank), the integral of x^-exponent from x to x + 1 (pdf),"
        " x^-exponent - (x + 1)^-exponent (ccdf), or as the others (uniform).",
        default="rank",
    )
    exponent: float = parameter("Of the popularity of cells: a (Kato IV: 1 to 4; VI: 0.6719 and 0.3294).", default=1.0)
    topic_key: ClassVar[str] = "stock"
    overlay: str = "fixed"  # ours: what StaN would build on the stocks as topics
    connectivity: float = 0.99  # likewise

    def __post_init__(self) -> None:
        refuse_unless(1, LARGEST, nodes=self.nodes)
        refuse_unless(1, MOST_CELLS, stocks=self.stocks, price_cells=self.price_cells)
        refuse_unless(1, MOST_FILTERS, filters_per_node=self.filters_per_node)
        refuse_unless(0.01, STEEPEST, exponent=self.exponent)
        refuse_unless(0.0, 1.0, width=self.width)
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise UsageError(f"{name} is {getattr(self, name)!r}, but must be one of: {', '.join(allowed)}.")
        if self.ranges == "random" and self.width != WIDTH:
            raise UsageError(f"width is {self.width}, but plays no part where ranges are random; drop it.")
        if self.cells > MOST_CELLS:
            raise UsageError(f"stocks times price-cells is {self.cells}, but must be at most {MOST_CELLS}.")

    @property
    def cells(self) -> int:
        """How many cells the event space has."""
        return self.stocks * self.price_cells

    @property
    def space(self) -> str:
        """How its events are cut into cells, in words of `protocols.content.spaces`."""
        return f"stock,price:0:{PRICES:g}:{self.price_cells}"

    def all_filters(self, seed: int) -> tuple[Longs, Floats, Floats]:
        """All filters at once: of each its node, and where stock and price begin and end; the keys are `node-` and `stock-INDEX`."""
        _, stocks, lows, highs, _ = self.wanted(np.arange(self.nodes), seed)
        nodes = np.repeat(np.arange(self.nodes), self.filters_per_node)
        named = stocks.astype(np.float64)
        return nodes, np.stack((named, lows), axis=1), np.stack((named, highs), axis=1)

    def subscriptions(self, spark: SparkSession, seed: int) -> DataFrame:
        """One row (node_key, topic_key) for each stock that a node has a filter on."""
        wanted = self._wanted(spark, seed).where("first")
        return wanted.select("node_key", F.col("stock").alias("topic_key"))

    def filters(self, spark: SparkSession, seed: int) -> DataFrame:
        """Two rows per filter: the stock equals a name, the price lies within a range."""
        nothing = F.lit(None)
        by_stock = F.struct(
            F.lit("stock").alias("attribute"),
            nothing.cast("double").alias("low"),
            nothing.cast("double").alias("high"),
            F.col("stock").alias("value"),
        )
        by_price = F.struct(
            F.lit("price").alias("attribute"), F.col("low"), F.col("high"), nothing.cast("string").alias("value")
        )
        conditions = self._wanted(spark, seed).select("node_key", "filter", F.inline(F.array(by_stock, by_price)))
        return conditions.select("node_key", "filter", "attribute", "low", "high", "value")

    def wanted(self, nodes: Longs, seed: int) -> tuple[Longs, Longs, Floats, Floats, NDArray[np.bool_]]:
        """The filters of some nodes, one after the other: cell, stock, low, high, and whether the stock is a new one."""
        states = tuple(stream(seed, f"stock {what}") for what in ("rank", "cell", "price", "low", "high"))
        sizes = (self.price_cells, self.filters_per_node)
        width = self.width * PRICES if self.ranges == "fixed" else RANDOM
        return _drawn(nodes, self.popularity(), sizes, (width, PRICES), self.alike, states)

    def popularity(self) -> Floats:
        """How likely it is that a filter starts from a cell up to this rank."""
        edges = np.arange(1, self.cells + 2, dtype=np.float64)  # cell i of x lies from i to i + 1
        if self.law == "uniform":
            below = edges - 1.0
        elif self.law == "rank":
            below = np.concatenate((np.zeros(1), np.cumsum(edges[:-1] ** -self.exponent)))
        elif self.law == "ccdf":
            below = -np.expm1(-self.exponent * np.log(edges))  # 1 - x^-a
        elif self.exponent == 1.0:
            below = np.log(edges)
        else:
            below = np.expm1((1.0 - self.exponent) * np.log(edges)) / (1.0 - self.exponent)
        return np.asarray(below[1:] / below[-1], np.float64)

    def _wanted(self, spark: SparkSession, seed: int) -> DataFrame:
        made = spark.range(0, self.nodes, numPartitions=slices_of(spark)).mapInArrow(
            self._wanter(seed), "node long, filter long, stock long, low double, high double, first boolean"
        )
        named = {"node_key": F.concat(F.lit("node-"), "node"), "stock": F.concat(F.lit("stock-"), "stock")}
        return made.withColumns(named)

    def _wanter(self, seed: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
        def want(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                nodes = batch.column(0).to_numpy()
                _, *wanted = self.wanted(nodes, seed)
                numbers = np.tile(np.arange(self.filters_per_node), nodes.size)
                columns = [np.repeat(nodes, self.filters_per_node), numbers, *wanted]
                yield pa.RecordBatch.from_arrays(
                    [pa.array(column) for column in columns],
                    names=["node", "filter", "stock", "low", "high", "first"],
                )

        return want


@compiled
def _drawn(
    nodes: Longs,
    popularity: Floats,
    sizes: tuple[int, int],
    widths: tuple[float, float],
    alike: bool,
    states: tuple[np.uint64, ...],
) -> tuple[Longs, Longs, Floats, Floats, NDArray[np.bool_]]:
    price_cells, filters = sizes
    width, prices = widths
    rank_state, cell_state, price_state, low_state, high_state = states
    rows = nodes.size * filters
    cells, stocks = np.empty(rows, np.int64), np.empty(rows, np.int64)
    lows, highs = np.empty(rows), np.empty(rows)
    first = np.ones(rows, np.bool_)
    for row in range(rows):
        node, number = nodes[row // filters], row % filters
        rank = drawn_by(popularity, mixed_long(number, mixed_long(node, cell_state)))
        cell = permuted(rank, popularity.size, rank_state)
        who, what = (cell, np.int64(0)) if alike else (node, np.int64(number))  # whose chances decide
        within = unit(mixed_long(what, mixed_long(who, price_state)))
        price = (cell % price_cells + within) * prices / price_cells
        cells[row], stocks[row] = cell, cell // price_cells
        if width < 0:
            lows[row] = price * unit(mixed_long(what, mixed_long(who, low_state)))
            highs[row] = price + (prices - price) * unit(mixed_long(what, mixed_long(who, high_state)))
        else:
            lows[row] = max(min(price - width / 2, prices - width), 0.0)
            highs[row] = min(lows[row] + width, prices)
        for earlier in range(row - number, row):
            if stocks[earlier] == stocks[row]:
                first[row] = False
    return cells, stocks, lows, highs, first
