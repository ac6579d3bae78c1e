"""Retention: the segments to delete by age and size."""

from __future__ import annotations

from itertools import pairwise

from broker_core.clock import NS_PER_MS
from broker_core.log.config import LogConfig
from broker_core.log.segment_list import SegmentList


def is_too_old(published_ns: int, config: LogConfig, now_ns: int) -> bool:
    """Whether a message published at `published_ns` is older than `retention_ms`."""
    return config.retention_ms is not None and now_ns - published_ns > config.retention_ms * NS_PER_MS


def retained_from(segments: SegmentList, config: LogConfig, now_ns: int) -> int:
    """The offset before which sealed segments are to be deleted.

    The oldest segment is deleted while it is too old, or while the others still have `retention_bytes`.
    """
    offset = 0
    excess_bytes = segments.size_bytes - config.retention_bytes if config.retention_bytes is not None else 0
    for segment, following in pairwise(segments):
        latest_ns = segment.max_published_ns
        too_old = latest_ns is None or is_too_old(latest_ns, config, now_ns)
        too_many = config.retention_bytes is not None and excess_bytes >= segment.size_bytes
        if not (too_old or too_many):
            break
        excess_bytes -= segment.size_bytes
        offset = following.base_offset
    return offset
