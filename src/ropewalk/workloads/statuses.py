"""A source of short messages: JSON lines with author, time, text and the author's friends, as Kato et al. prepared Twitter.

Paper: Kato et al., section VI. Authors are nodes, and follow those of their friends who are authors, too; authors with more
than 2,000 friends are excluded, then those without any friend in the data. Hashtags of 4 to 16 letters and digits are topics;
their publication rate is the slope of a least-squares line through the latest 15 uses. The messages are publications.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from ropewalk.errors import UsageError
from ropewalk.parameters import parameter, refuse_unless
from ropewalk.tables.frames import id_column
from ropewalk.workloads.naming import names_of, publications_of, subscriptions_of, topics_of
from ropewalk.workloads.reading.files import Part, parts_of
from ropewalk.workloads.reading.gather import Gathered, Totals, gather, names_of_parts, spread
from ropewalk.workloads.reading.lines import Block, Lines
from ropewalk.workloads.reading.packets import REJECT, SHOWN, SIZE, shown

UNKNOWN = "by authors whose friends are not known"
OVER_CAP = "by authors with too many friends"
FRIENDLESS = "by authors with no friend among the authors"
DAY = 86_400.0
LATEST = 1e12  # seconds: beyond the year 30000 it is no time, nor are milliseconds seconds
WORKLOAD = "workload"  # the run of publications that no run made
HASHTAG = r"(?U)(?<![\w&/])#(\w+)"
VALID_HASHTAG = "^[a-z0-9]{4,16}$"
LINES = "part int, position bigint, line string, reason string"
MONTHS = "MMM dd HH:mm:ss xx yyyy"  # as Twitter wrote times, after the day of the week


@dataclass(frozen=True, slots=True, kw_only=True)
class Statuses:
    """A message is one row of the input. A name such as `user.screen_name` is a field inside a field."""

    name: ClassVar[str] = "statuses"
    sentence: ClassVar[str] = (
        "JSON lines of short messages: who follows whom, hashtags with their rates, and the messages."
    )

    author: str = parameter("The field with the author's name.", default="author")
    time: str = parameter(
        "The field with the time: seconds since 1970, ISO 8601, or as Twitter writes it.", default="time"
    )
    text: str = parameter("The field with the text.", default="text")
    friends: str = parameter("The field with the names of those whom the author follows.", default="friends")
    friend_cap: int = parameter("Leave out authors with more friends.", default=2000)  # VI-B
    latest: int = parameter("Uses of a topic that its rate is estimated from.", default=15)  # VI-D

    def __post_init__(self) -> None:
        refuse_unless(1, 2**31 - 1, friend_cap=self.friend_cap)
        refuse_unless(2, 10_000, latest=self.latest)
        for name in ("author", "time", "text", "friends"):
            found = getattr(self, name)
            if not re.fullmatch(r"[^.\"'\[\]\\]+(\.[^.\"'\[\]\\]+)*", found):
                raise UsageError(f"{name} is {found!r}, but must be a field's name, or names joined by dots.")

    def gathered(self, spark: SparkSession, files: Sequence[Path]) -> Gathered:
        """Follows, rates and publications."""
        parts = parts_of(files)
        read = self._examined(spread(spark, parts, _lines_of, LINES)).persist(StorageLevel.DISK_ONLY)
        keep: list[DataFrame] = [read]
        try:
            found = gather(_refused(read), names_of_parts(parts, files), buckets=1)  # no packets
            keep += found.kept
            good = read.filter("reason is null and line is not null")
            statuses = good.select("author", "at", "text").distinct().persist(StorageLevel.DISK_ONLY)
            keep.append(statuses)
            authors, follows = self._followed(good.select("author", "friends"))
            authors = authors.persist(StorageLevel.DISK_ONLY)
            keep.append(authors)
            totals = _totals(read, statuses, authors, found.totals)
        except BaseException:
            for frame in keep:
                frame.unpersist()
            raise
        kept = statuses.join(authors.filter("left_out is null"), "author")
        topics = F.concat(
            F.array("author"), F.transform(_hashtags(F.col("text")), lambda tag: F.concat(F.lit("#"), tag))
        )
        rates = self._rates(statuses.select(F.explode(topics).alias("topic_key"), "at"))
        publications = kept.select(
            id_column(F.concat_ws("\x1f", "author", F.col("at").cast("string"), "text")).alias("event"),
            F.col("author").alias("publisher_key"),
            topics.alias("topic_keys"),
            F.octet_length("text").alias("size"),
            "at",
            F.col("text").alias("content"),
        )
        return replace(
            found,
            subscriptions=subscriptions_of(follows),
            names=names_of(follows, rates.select("topic_key")),
            totals=totals,
            kept=tuple(keep),
            topics=topics_of(rates),
            publications=publications_of(publications, WORKLOAD),
        )

    def _examined(self, lines: DataFrame) -> DataFrame:
        """Lines with what they say, or the reason why it cannot be used."""
        said = F.try_parse_json("line")

        def field(name: str, type_: str = "string") -> Column:
            path = "$" + "".join(f'["{step}"]' for step in name.split("."))
            return F.try_variant_get(F.col("said"), path, type_)

        fields = lines.withColumn("said", said).select(
            "part",
            "position",
            "line",
            F.col("said").isNotNull().alias("is_json"),
            field(self.author).alias("author"),
            _seconds(field(self.time)).alias("at"),
            field(self.text).alias("text"),
            field(self.friends, "array<string>").alias("friends"),
            "reason",
        )
        reason = F.coalesce(
            F.col("reason"),
            F.when(F.col("line").isNull(), None)
            .when(~F.col("is_json"), "the line is not JSON")
            .when(F.coalesce("author", F.lit("")) == "", f"there is no author in {self.author!r}")
            .when(F.col("at").isNull(), f"there is no time in {self.time!r}")
            .when(F.col("text").isNull(), f"there is no text in {self.text!r}"),
        )
        return fields.withColumn("reason", reason).withColumn(
            "line", F.when(F.col("line").isNotNull(), F.substring("line", 1, SHOWN))
        )

    def _followed(self, statuses: DataFrame) -> tuple[DataFrame, DataFrame]:
        """Every author with the reason to leave them out, if there is one; and who follows whom among the others.

        An author's friends are all that any of their messages names.
        """
        told = statuses.groupBy("author").agg(F.max(F.col("friends").isNotNull()).alias("is_known"))
        friend = statuses.select("author", F.explode("friends").alias("friend")).filter("friend is not null").distinct()
        friends = friend.groupBy("author").agg(F.count("*").alias("count"))
        reason = F.when(~F.col("is_known"), UNKNOWN).when(F.col("count") > self.friend_cap, OVER_CAP)
        authors = told.join(friends, "author", "left").select("author", reason.alias("left_out"))
        seen = authors.filter("left_out is null").select("author")
        among = friend.filter("friend != author").join(seen, "author")
        follows = among.join(seen.select(F.col("author").alias("friend")), "friend")
        follows = follows.select(F.col("author").alias("node_key"), F.col("friend").alias("topic_key"))
        has_friend = follows.select(F.col("node_key").alias("author")).distinct().withColumn("has_friend", F.lit(True))
        left_out = F.coalesce("left_out", F.when(F.col("has_friend").isNull(), FRIENDLESS)).alias("left_out")
        return authors.join(has_friend, "author", "left").select("author", left_out), follows

    def _rates(self, uses: DataFrame) -> DataFrame:
        """(topic_key, at) -> (topic_key, rate): uses per day; none where a single moment tells nothing."""
        newest = Window.partitionBy("topic_key").orderBy(F.col("at").desc())
        latest = uses.withColumn("turn", F.row_number().over(newest)).filter(F.col("turn") <= self.latest)
        # Sorted, so that sums are the same in any order of rows.
        times = latest.groupBy("topic_key").agg(F.sort_array(F.collect_list("at")).alias("times"))
        since = F.transform("times", lambda at: (at - F.get("times", F.lit(0))) / DAY)
        count = F.size("days").cast("double")
        mean = _sum(F.col("days")) / count
        across = _sum(F.transform("days", lambda day, turn: (turn - (count - 1) / 2) * (day - mean)))
        spread = _sum(F.transform("days", lambda day: (day - mean) * (day - mean)))
        return times.withColumn("days", since).select(
            "topic_key", F.try_divide(across, F.nullif(spread, F.lit(0.0))).alias("rate")
        )


def _sum(numbers: Column) -> Column:
    return F.aggregate(numbers, F.lit(0.0), lambda total, number: total + number)


def _hashtags(text: Column) -> Column:
    """The hashtags of a text, in small letters, each once."""
    tags = F.transform(F.regexp_extract_all(text, F.lit(HASHTAG)), F.lower)
    return F.array_distinct(F.filter(tags, lambda tag: tag.rlike(VALID_HASHTAG)))


def _seconds(time: Column) -> Column:
    """Seconds since 1970 of a time in any of the ways it may be written."""
    number = time.try_cast("double")
    iso = F.try_to_timestamp(time)
    twitter = F.try_to_timestamp(F.regexp_replace(time, "^[A-Za-z]{3} ", ""), F.lit(MONTHS))
    return F.coalesce(F.when(F.abs(number) < LATEST, number), F.coalesce(iso, twitter).cast("double"))


def _lines_of(part: Part) -> Iterator[pa.RecordBatch]:
    """Every line, the size of the part (a position alone), and what is no line (with the reason)."""
    lines = Lines(part)
    for block in lines:
        if not isinstance(block, Block):
            yield _batch(part, [block.number], [shown(block.beginning)], [block.reason])
            continue
        positions: list[int] = []
        texts: list[str] = []
        reasons: list[str | None] = []
        for number, line in enumerate(block.data.split(b"\n")[:-1], block.first):
            if not line.strip():
                continue
            positions.append(number)
            try:
                texts.append(line.decode())
                reasons.append(None)
            except UnicodeDecodeError:
                texts.append(shown(line))
                reasons.append("the line is not UTF-8")
        yield _batch(part, positions, texts, reasons)
    yield _batch(part, [lines.count], [None], [None])


def _batch(
    part: Part, positions: list[int], lines: Sequence[str | None], reasons: Sequence[str | None]
) -> pa.RecordBatch:
    columns = [
        pa.repeat(pa.scalar(part.number, pa.int32()), len(positions)),
        pa.array(positions, pa.int64()),
        pa.array(lines, pa.string()),
        pa.array(reasons, pa.string()),
    ]
    return pa.RecordBatch.from_arrays(columns, names=["part", "position", "line", "reason"])


def _refused(read: DataFrame) -> DataFrame:
    """Rejects and the sizes of parts, in the shape of what is gathered."""
    kind = F.when(F.col("reason").isNull(), SIZE).otherwise(REJECT)
    return read.filter("reason is not null or line is null").select(
        kind.alias("kind"),
        F.lit(None).cast("int").alias("bucket"),
        F.lit(None).cast("binary").alias("packet"),
        "part",
        "position",
        F.col("line").alias("text"),
        "reason",
        F.col("reason").isNotNull().cast("bigint").alias("rows"),
    )


def _totals(read: DataFrame, statuses: DataFrame, authors: DataFrame, refused: Totals) -> Totals:
    good = read.filter("reason is null and line is not null").count()
    by_fate: dict[str | None, int] = dict(statuses.join(authors, "author").groupBy("left_out").count().collect())
    kept = by_fate.pop(None, 0)
    left_out = {name: by_fate[name] for name in sorted(filter(None, by_fate))}
    return replace(refused, seen=good - sum(left_out.values()), kept=kept, left_out_by=left_out)
