"""What a workload model or source offers: its parameters as fields, and subscriptions as a frame of external keys."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from ropewalk.workloads.reading.gather import Gathered


class Model(Protocol):
    """A frozen dataclass; its fields are validated when it is made, and are what the manifest records.

    A field made by `parameters.parameter` is an option of `ropewalk generate`.
    """

    name: ClassVar[str]
    sentence: ClassVar[str]  # for a list of models

    @property
    def overlay(self) -> str:
        """What was built on such a universe where it was published: a default for whoever simulates it."""

    @property
    def connectivity(self) -> float:
        """How connected that was, as a probability: likewise a default."""

    def subscriptions(self, spark: SparkSession, seed: int) -> DataFrame:
        """Rows (node_key, topic_key), no pair twice, the same for any number of partitions."""
        ...


class LocalModel(Protocol):
    """What one task can make alone, so that many can be tried at a time."""

    topic_key: ClassVar[str]  # what the keys of topics begin with

    def all_pairs(self, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All subscriptions as (node, topic) index pairs; the keys are `node-INDEX` and, for most, `topic-INDEX`."""
        ...


@runtime_checkable
class ContentModel(Model, Protocol):
    """A model whose nodes also say what they want of a topic's events."""

    @property
    def space(self) -> str:
        """How such events are cut into cells, in words of `protocols.content.spaces`: a default for whoever simulates it."""

    def filters(self, spark: SparkSession, seed: int) -> DataFrame:
        """Rows (node_key, filter, attribute, low, high, value), the same for any number of partitions."""
        ...


class LocalContentModel(Protocol):
    """One of these that a task can make alone; its first attribute has the words `TOPIC_KEY-INDEX`."""

    topic_key: ClassVar[str]

    @property
    def space(self) -> str:
        """As `ContentModel` has it."""

    def all_filters(self, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """All filters: of each the index of its node, and where every attribute begins and ends; of words, their index."""
        ...


class Source(Protocol):
    """A frozen dataclass: how the files of one format are to be read. Its fields are options of `ropewalk ingest`."""

    name: ClassVar[str]
    sentence: ClassVar[str]

    def gathered(self, spark: SparkSession, files: Sequence[Path]) -> Gathered:
        """All that the files say, the same for any number of partitions; a row that cannot be used fails nothing."""
        ...
