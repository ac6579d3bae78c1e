from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import Column

#: 1, 2 and 5 times a power of ten: widths that a reader can name.
_WIDTHS_NS = [step * 10**power for power in range(18) for step in (1, 2, 5)]
MAX_BUCKETS = 240


class Scale(NamedTuple):
    """From `from_ns` to `to_ns`, which is excluded, in buckets of `width_ns`. `scale_of` includes a session's end."""

    from_ns: int
    to_ns: int
    width_ns: int

    @property
    def duration_ns(self) -> int:
        """How long it is; never 0."""
        return max(self.to_ns - self.from_ns, 1)

    @property
    def is_moment(self) -> bool:
        """Whether no time passes in it: nothing has a rate then."""
        return self.duration_ns == 1

    @property
    def buckets(self) -> int:
        return max(1, -(-self.duration_ns // self.width_ns))

    @property
    def last_ns(self) -> int:
        """The beginning of the last bucket, which has no end."""
        return self.from_ns + (self.buckets - 1) * self.width_ns

    @property
    def bucket_widths_ns(self) -> list[int]:
        """How long each bucket lasts; the last one may be shorter."""
        return [*[self.width_ns] * (self.buckets - 1), self.to_ns - self.last_ns]

    def bucket(self, start_ns: int) -> int:
        """The number of the bucket; what happened at the very end belongs to the last one."""
        return min((start_ns - self.from_ns) // self.width_ns, self.buckets - 1)

    def spark_bucket_start(self, time: str) -> Column:
        """The beginning of the bucket of `time`. Everything before `from_ns` is in one bucket that ends there."""
        from pyspark.sql import functions as F

        after = F.col(time) - F.lit(self.from_ns)
        begins = after - F.pmod(after, F.lit(self.width_ns))  # whole numbers: a quotient is rounded, and moves an edge
        last = F.lit(self.last_ns - self.from_ns)
        return (F.least(F.greatest(begins, F.lit(-self.width_ns)), last) + self.from_ns).cast("bigint")

    def polars_bucket_start(self, time: str) -> pl.Expr:
        """The same for results."""
        import polars as pl

        after = pl.col(time) - self.from_ns
        return (after - after % self.width_ns).clip(-self.width_ns, self.last_ns - self.from_ns) + self.from_ns

    def each_bucket(self, rows: pl.DataFrame, first: str, last: str) -> pl.DataFrame:
        """Each row once for every bucket from that of its time `first` to that of `last`, which is its `start_ns`."""
        import polars as pl

        starts = pl.int_ranges(self.polars_bucket_start(first), self.polars_bucket_start(last) + 1, self.width_ns)
        return rows.with_columns(start_ns=starts).explode("start_ns", empty_as_null=False, keep_nulls=False)


def scale_of(duration_ns: int, from_ns: int | None = None, to_ns: int | None = None) -> Scale:
    """The scale of a session that lasted `duration_ns`, or of the part that begins at `from_ns` and ends at `to_ns`."""
    begin = 0 if from_ns is None else from_ns
    end = duration_ns if to_ns is None else min(to_ns, duration_ns)
    end = max(end, begin + 1)
    return Scale(begin, end, bucket_width_ns(end - begin))


def bucket_width_ns(duration_ns: int) -> int:
    """The width that cuts `duration_ns` into 96 to 240 buckets, as 1, 2 or 5 times a power of ten."""
    return next(width for width in _WIDTHS_NS if -(-max(duration_ns, 1) // width) <= MAX_BUCKETS)
