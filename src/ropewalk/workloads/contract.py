"""What a workload model offers: its parameters as fields, and subscriptions as a frame of external keys."""

from typing import ClassVar, Protocol

from pyspark.sql import DataFrame, SparkSession


class Model(Protocol):
    """A frozen dataclass; its fields are validated when it is made, and are what the manifest records."""

    name: ClassVar[str]

    @property
    def overlay(self) -> str:
        """What was built on such a universe where it was published: a default for whoever simulates it."""

    @property
    def connectivity(self) -> float:
        """How connected that was, as a probability: likewise a default."""

    def subscriptions(self, spark: SparkSession, seed: int) -> DataFrame:
        """Rows (node_key, topic_key), no pair twice, the same for any number of partitions."""
        ...
