from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spark_reports.session import bucket_width_ns

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import Column

SLOTS_PER_BUCKET = 50  # what clients have in their hands is looked at this much finer
MOST_SLOTS = 1_000_000  # of all clients and partitions together


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

    def slot_ns(self, places: int = 0) -> int:
        """The width of a slot: a fiftieth of a bucket, or more where `places` would have too many of them."""
        slots = min(SLOTS_PER_BUCKET, max(MOST_SLOTS // max(places * self.buckets, 1), 1))
        return max(self.width_ns // slots, 1)

    def bucket(self, start_ns: int) -> int:
        """The number of the bucket; what happened at the very end belongs to the last one."""
        return min((start_ns - self.from_ns) // self.width_ns, self.buckets - 1)

    def start(self, time: Column | str, width_ns: int | None = None) -> Column:
        """The beginning of the bucket of `time`. Everything before `from_ns` is in one bucket that ends there."""
        from pyspark.sql import functions as F

        width = width_ns or self.width_ns
        after = (F.col(time) if isinstance(time, str) else time) - F.lit(self.from_ns)
        last = (-(-self.duration_ns // width) - 1) * width
        begins = after - F.pmod(after, F.lit(width))  # whole numbers: a quotient is rounded, and moves an edge
        return (F.least(F.greatest(begins, F.lit(-width)), F.lit(last)) + self.from_ns).cast("bigint")

    def start_of(self, time: str, width_ns: int | None = None) -> pl.Expr:
        """The same for results."""
        import polars as pl

        width = width_ns or self.width_ns
        after = pl.col(time) - self.from_ns
        last = (-(-self.duration_ns // width) - 1) * width
        return (after - after % width).clip(-width, last) + self.from_ns


def scale_of(duration_ns: int, from_ns: int | None = None, to_ns: int | None = None) -> Scale:
    """The scale of a session that lasted `duration_ns`, or of the part that begins at `from_ns` and ends at `to_ns`."""
    begin = 0 if from_ns is None else from_ns
    end = duration_ns if to_ns is None else min(to_ns, duration_ns)
    end = max(end, begin + 1)
    return Scale(begin, end, bucket_width_ns(end - begin))
