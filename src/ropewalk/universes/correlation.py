"""How correlated topics are over nodes, and nodes over topics: Pearson's r of 0/1 columns, pair by pair.

Papers: StaN Figure 5 (topics), StAN Table 1 (nodes). With a of N ones in one column, b in the other, and c in both,
r = (N c - a b) / sqrt(a (N - a) b (N - b)). So counting who occurs together is all the work. A column that is all ones
has no correlation with anything: its pairs are left out, and how many such columns there are is said.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.special import stdtrit

from ropewalk.arrays.lists import Ints, Longs, count_together
from ropewalk.tables.frames import chance_column
from ropewalk.universes.interests import Interests, flat, pairs_of

Floats = NDArray[np.float64]

TOPICS_COMPARED = 1_000  # with each other: all of them up to here, beyond it so many drawn by chance
NODES_COMPARED = 4_000  # likewise: StAN's largest universe has 3,000
BLOCK = 256  # rows of the matrix of counts that travel together
TASKS = 4  # that count nodes: each holds a whole matrix, of 64 MB at most

LEVELS = (90, 95, 98, 99)  # % of confidence, StAN Table 1
BOUNDS = (0.1, 0.3, 0.5)
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
FEWEST_TOPICS = 3  # a t test of a correlation has two degrees of freedom fewer


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns are compared: their ids, ascending, how many ones each has, of `length` entries, out of how many."""

    ids: Longs
    ones: Longs
    length: int
    population: int

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Which of them have a correlation at all."""
        return self.ones < self.length

    def document(self, what: str) -> dict[str, Any]:
        """How many were compared, and whether these are all."""
        varying = int(self.varying.sum())
        return {
            what: int(self.ids.size),
            "of": self.population,
            "exact": self.ids.size == self.population,
            "without_variance": int(self.ids.size) - varying,
            "pairs": varying * (varying - 1) // 2,
        }

    def standard_error(self, row_means: Floats) -> float:
        """Of a mean over all pairs of a sample, from each column's own mean (its Hajek projection); 0 for all columns."""
        if self.ids.size == self.population:
            return 0.0
        left_out = 1 - self.ids.size / self.population
        return float(2 * np.std(row_means, ddof=1) * math.sqrt(left_out / row_means.size))


@dataclass(frozen=True, slots=True)
class TopicCorrelation:
    """What is said of it, and the matrix to draw: varying topics only, ordered so that the alike lie together."""

    document: dict[str, Any]
    matrix: Floats


def topic_correlation(interests: Interests, seed: int, compared: int = TOPICS_COMPARED) -> TopicCorrelation:
    """Of all pairs of topics, or of those among `compared` topics drawn by chance."""
    drawn = interests.topics.orderBy(chance_column(seed, "compared topic", F.col("topic")), "topic").limit(compared)
    columns = _columns(drawn.select("topic", "subscribers"), interests.node_count, interests.topic_count)
    blocks = _counted(interests.nodes.select(F.col("topics").alias("items")), columns.ids).collect()
    counts = np.concatenate([np.frombuffer(row["counts"], np.int32) for row in sorted(blocks)])
    upper = counts.reshape(columns.ids.size, columns.ids.size)
    r = _pearson(upper, columns.ones[:, None], columns.ones[None, :], columns.length)
    matrix = np.triu(r, 1) + np.triu(r, 1).T
    matrix = matrix[np.ix_(columns.varying, columns.varying)]
    np.fill_diagonal(matrix, 1.0)
    document = columns.document("topics")
    if document["pairs"]:
        document |= _of_pairs(columns, matrix)
        matrix = _seriated(matrix)
    return TopicCorrelation(document, matrix)


def node_correlation(interests: Interests, seed: int, compared: int = NODES_COMPARED) -> dict[str, Any]:
    """The share of pairs of nodes whose correlation is significant (two-sided t test over the topics)."""
    chance = chance_column(seed, "compared node", F.col("node"))
    drawn = interests.nodes.select("node", F.size("topics").alias("size")).orderBy(chance, "node").limit(compared)
    columns = _columns(drawn, interests.topic_count, interests.node_count)
    document = columns.document("nodes")
    if interests.topic_count < FEWEST_TOPICS or not document["pairs"]:
        return document
    followed = pairs_of(interests.nodes.join(F.broadcast(drawn.select("node")), "node", "left_semi"))
    by_topic = followed.groupBy("topic").agg(F.sort_array(F.collect_list("node")).alias("items"))
    critical = [critical_correlation(level / 100, interests.topic_count) for level in LEVELS]
    blocks = _counted(by_topic.select("items").coalesce(TASKS), columns.ids)
    tested = blocks.mapInArrow(_testing(columns, critical), "block int, total double, significant binary").collect()
    return document | _of_tests(columns, document["pairs"], sorted(tuple(row) for row in tested))


def critical_correlation(confidence: float, entries: int) -> float:
    """From which |r| on a correlation of that many entries is significant: t = r sqrt((n - 2) / (1 - r^2))."""
    freedom = entries - 2
    t = float(stdtrit(freedom, 1 - (1 - confidence) / 2))
    return t / math.sqrt(freedom + t * t)


def _columns(drawn: DataFrame, length: int, population: int) -> Columns:
    both = np.array(sorted(tuple(row) for row in drawn.collect()), np.int64).reshape(-1, 2)  # a bounded sample
    return Columns(both[:, 0].copy(), both[:, 1].copy(), length, population)


def _counted(lists: DataFrame, chosen: Longs) -> DataFrame:
    """Rows (block, counts): `BLOCK` rows of the matrix that says how many lists (column items) hold both of two ids."""

    def counting(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = np.zeros((chosen.size, chosen.size), np.int32)
        for batch in batches:
            count_together(*flat(batch.column("items")), chosen, counts)
        for block in range(0, chosen.size, BLOCK):
            yield _block(block // BLOCK, counts[block : block + BLOCK])

    def summing(table: pa.Table) -> pa.Table:
        total = np.frombuffer(table.column("counts")[0].as_buffer(), np.int32).copy()
        for part in table.column("counts")[1:]:
            total += np.frombuffer(part.as_buffer(), np.int32)
        return pa.Table.from_batches([_block(table.column("block")[0].as_py(), total)])

    schema = "block int, counts binary"
    return lists.mapInArrow(counting, schema).groupBy("block").applyInArrow(summing, schema)


def _block(number: int, counts: Ints) -> pa.RecordBatch:
    columns = {"block": pa.array([number], pa.int32()), "counts": pa.array([counts.tobytes()], pa.binary())}
    return pa.RecordBatch.from_pydict(columns)


def _pearson(both: Any, a: Any, b: Any, length: int) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt((a * (length - a)).astype(np.float64)) * np.sqrt((b * (length - b)).astype(np.float64))
        return np.asarray((length * both.astype(np.float64) - (a * b).astype(np.float64)) / spread)


def _of_pairs(columns: Columns, matrix: Floats) -> dict[str, Any]:
    pairs = matrix[np.triu_indices_from(matrix, 1)]
    others = matrix.shape[0] - 1

    def mean_of(values: Floats, of_matrix: Floats) -> dict[str, float]:
        rows = (of_matrix.sum(axis=1) - 1) / others  # without the diagonal
        return {"value": float(values.mean()), "standard_error": columns.standard_error(rows)}

    return {
        "mean": mean_of(pairs, matrix),
        "mean_absolute": mean_of(np.abs(pairs), np.abs(matrix)),
        "min": float(pairs.min()),
        "max": float(pairs.max()),
        "quantiles": {
            f"p{share * 100:.0f}": float(value)
            for share, value in zip(QUANTILES, np.quantile(pairs, QUANTILES), strict=True)
        },
        "above": {
            str(bound): mean_of((pairs > bound).astype(np.float64), (matrix > bound).astype(np.float64))
            for bound in BOUNDS
        },
    }


def _seriated(matrix: Floats) -> Floats:
    """Columns and rows in the order of the leaves of an average-linkage tree, so that correlated topics are neighbours."""
    if matrix.shape[0] <= 2:  # noqa: PLR2004 (nothing to order)
        return matrix
    distances = (1 - matrix)[np.triu_indices_from(matrix, 1)]
    order = leaves_list(linkage(np.maximum(distances, 0.0), method="average"))
    return matrix[np.ix_(order, order)]


def _testing(columns: Columns, critical: list[float]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Per block of counts: the sum of its correlations, and for each node and level in how many significant pairs it is."""
    size, varying = columns.ids.size, columns.varying

    def testing(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                first = row["block"] * BLOCK
                upper = np.frombuffer(row["counts"], np.int32).reshape(-1, size)
                own = slice(first, first + upper.shape[0])
                r = _pearson(upper, columns.ones[own, None], columns.ones[None, :], columns.length)
                once = np.arange(size)[None, :] > np.arange(first, first + upper.shape[0])[:, None]
                r[~(once & varying[own, None] & varying[None, :])] = 0.0
                found = np.zeros((len(critical), size), np.int64)
                for level, least in enumerate(critical):
                    significant = np.abs(r) >= least
                    found[level] += significant.sum(axis=0)
                    found[level, own] += significant.sum(axis=1)
                columns_out = {"block": pa.array([row["block"]], pa.int32()), "total": [float(r.sum())]}
                yield pa.RecordBatch.from_pydict(
                    columns_out | {"significant": pa.array([found.tobytes()], pa.binary())}
                )

    return testing


def _of_tests(columns: Columns, pairs: int, tested: list[tuple[int, float, bytes]]) -> dict[str, Any]:
    per_node = np.zeros((len(LEVELS), columns.ids.size), np.int64)
    for _, _, significant in tested:
        per_node += np.frombuffer(significant, np.int64).reshape(per_node.shape)
    shares = per_node[:, columns.varying] / (columns.varying.sum() - 1)
    return {
        "mean": math.fsum(total for _, total, _ in tested) / pairs,
        "significant": {
            str(level): {
                "value": int(per_node[row].sum()) / (2 * pairs),
                "standard_error": columns.standard_error(shares[row]),
            }
            for row, level in enumerate(LEVELS)
        },
    }
