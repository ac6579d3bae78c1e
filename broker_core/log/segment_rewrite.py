from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.log.batch import encode_kept
from broker_core.log.batch_index import MARKER, BatchIndex
from broker_core.log.segment import Segment
from broker_core.log.segment_index import SegmentIndex
from broker_core.messages import StoredMessage

CLEANED_SUFFIX = ".cleaned"  # recovery removes such files


class SegmentRewrite:
    """Writes the remaining batches of `segment` to a new file. `removed` and `kept` count messages."""

    def __init__(self, segment: Segment, index_interval_bytes: int) -> None:
        self.removed = self.kept = 0
        self.content = bytearray()
        self.index = BatchIndex(segment.base_offset)
        self.sparse = SegmentIndex(segment.base_offset)
        self.sparse.transactions = segment.transactions.stored()
        self._segment = segment
        self._interval_bytes = index_interval_bytes

    @property
    def path(self) -> str:
        return self._segment.path + CLEANED_SUFFIX

    def keep(self, index: BatchIndex, slot: int, every: Sequence[StoredMessage], kept: Sequence[StoredMessage]) -> None:
        """Add the batch in this slot, of whose messages `every` only `kept` remain."""
        self.removed += len(every) - len(kept)
        self.kept += len(kept)
        if not kept:
            return
        stored = self._segment.batch(index, slot)
        data = encode_kept(kept, stored) if len(kept) < len(every) else stored
        span = kept[-1].offset - kept[0].offset + 1
        if len(kept) < span:
            self.index.with_gaps.add(len(self.index))
        payload_bytes = sum(message.size_bytes for message in kept)
        self._add(kept[0].offset, span, bytes(data), payload_bytes, index.published[slot])

    def keep_marker(self, index: BatchIndex, slot: int) -> None:
        """Add the marker in this slot: readers of uncommitted messages need the outcome of the transaction."""
        stored = self._segment.batch(index, slot)
        self._add(index.base_offset(slot), 1, stored, MARKER, index.published[slot])

    def _add(self, base_offset: int, span: int, data: bytes, payload_bytes: int, published_ns: int) -> None:
        self.index.add(base_offset, span, len(self.content), len(data), payload_bytes, published_ns)
        timestamp_ms = self._segment.context.epoch_ms + published_ns // NS_PER_MS
        self.sparse.add(base_offset, base_offset + span, len(data), timestamp_ms, self._interval_bytes)
        self.content += data

    def write(self, slice_bytes: int, *, durable: bool) -> Iterator[int]:
        """Write the content to `path` in slices. Yields the size of each in bytes. Raises STORAGE_ERROR."""
        files = self._segment.context.files
        files.remove(self.path)
        file = files.open_append(self.path)
        try:
            for start in range(0, len(self.content), slice_bytes):
                part = bytes(memoryview(self.content)[start : start + slice_bytes])
                file.append(part)
                if durable:
                    file.begin_sync()()
                yield len(part)
        except BrokerError:
            files.remove(self.path)  # on a full disk the partial file would use the last bytes
            raise
        finally:
            file.close()
