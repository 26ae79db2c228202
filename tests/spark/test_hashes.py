"""One weight and one chance in three languages: equal to the bit."""

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from ropewalk.arrays import chance as chances
from ropewalk.arrays.hashing import weights
from ropewalk.ids import identify, weight
from ropewalk.seeds import chance
from ropewalk.tables.frames import chance_column, id_column, weight_column
from ropewalk.tables.session import Session

PAIRS = 1_000_000


def pairs() -> tuple[np.ndarray, np.ndarray]:
    """Half of them ids as they occur, half from the whole range of longs, with the corners."""
    random = np.random.default_rng(1)
    half = PAIRS // 2
    corners = np.array([0, 1, -1, 2**63 - 1, -(2**63)])
    p, q = (
        np.concatenate((random.integers(0, 2**63 - 1, half), random.integers(-(2**63), 2**63 - 1, half - 5), corners))
        for _ in range(2)
    )
    return p, q


def test_weight_and_chance_agree_on_a_million_pairs(spark: Session) -> None:
    p, q = pairs()
    frame = spark.createDataFrame(pa.table({"p": p, "q": q, "row": np.arange(PAIRS)}))
    by_spark = (
        frame.select(
            "row",
            weight_column(F.col("p"), F.col("q")).alias("weight"),
            chance_column(7, "walk", F.col("p"), F.col("q")).alias("chance"),
        )
        .toArrow()
        .sort_by("row")
    )
    by_numba = weights(p, q), chances.chances(chances.stream(7, "walk"), np.stack((p, q), axis=1))
    assert np.array_equal(by_spark["weight"].to_numpy(), by_numba[0])
    assert np.array_equal(by_spark["chance"].to_numpy(), by_numba[1])
    plain = list(zip(p.tolist(), q.tolist(), strict=True))
    assert by_numba[0].tolist() == [weight(a, b) for a, b in plain]
    assert by_numba[1].tolist() == [chance(7, "walk", a, b) for a, b in plain]


def test_ids_of_names_agree(spark: Session) -> None:
    names = ["", "a", "node-17", "Straße", "主題", "x" * 31, "x" * 32, "x" * 33, "y" * 1000, "\U0001f9f6" * 20]
    frame = spark.createDataFrame([(name,) for name in names], "name string")
    found = {row["name"]: row["id"] for row in frame.select("name", id_column(F.col("name")).alias("id")).collect()}
    assert found == {name: identify(name) for name in names}


def test_chance_takes_words_as_labels(spark: Session) -> None:
    found = spark.range(1).select(chance_column(3, "drop", F.lit(9).cast("long"), F.lit("reply"))).first()
    assert found is not None
    assert found[0] == chance(3, "drop", 9, "reply")
