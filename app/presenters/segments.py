from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from typing import NamedTuple

from PySide6.QtCore import QAbstractItemModel, Signal
from PySide6.QtWidgets import QWidget

from app.presenters.columns import Column, number_column, state_column, time_column
from app.presenters.paged import not_recorded, only_of_now
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.table import TableModel
from app.sessions.queries import Answers
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.filters import Field
from broker_core.log.config import LogConfig
from broker_core.log.segment import SegmentView
from broker_core.operations.browse import DescribeLogs, PartitionState
from broker_core.snapshots import Snapshot
from widgets.boxes import scrolled, vbox
from widgets.controls import plain_label
from widgets.facts import Facts, FactsGrid, with_values
from widgets.formats import Times, byte_size, duration
from widgets.i18n import tr
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel
from widgets.side_by_side import side_by_side

# So many partitions are looked at in one step of the engine.
PARTITIONS_AT_ONCE = 60


class SegmentRow(NamedTuple):
    partition: PartitionState
    segment: SegmentView
    begin: float  # the offsets from here up to `end` are in it, or lost
    end: float

    @property
    def active(self) -> bool:
        return self.segment is self.partition.segments[-1]

    @property
    def damaged(self) -> bool:
        """Whether parts of it cannot be read: that was found when it was opened, or is lost since."""
        return self.segment.damaged or any(at < self.end and self.begin < lost for at, lost, _ in self.partition.lost)

    @property
    def key(self) -> tuple[str, int, str]:
        return (self.partition.topic, self.partition.partition, self.segment.name)


def rows_of(states: Iterable[PartitionState]) -> tuple[SegmentRow, ...]:
    rows: list[SegmentRow] = []
    for state in states:
        begins = [state.start_offset, *(segment.base_offset for segment in state.segments[1:]), math.inf]
        rows += map(SegmentRow, repeat(state), state.segments, begins, begins[1:])
    return tuple(rows)


def state_word(row: SegmentRow) -> str:
    if row.damaged:
        return "Corruption"
    if row.active:
        return "Active"
    return "Compacted" if row.segment.compacted else "Sealed"


class SegmentsModel(TableModel[SegmentRow]):
    def __init__(self, times: Times) -> None:
        columns: tuple[Column[SegmentRow], ...] = (
            Column("Topic or queue", lambda row: row.partition.topic, (110, 2), field="topic"),
            number_column("Partition", lambda row: row.partition.partition, (78,), shown=str),
            Column("File", lambda row: row.segment.name, (190, 1, 4), "mono"),
            state_column("State", state_word, (110,)),
            number_column("Base offset", lambda row: row.segment.base_offset, (94, 0, 2), field="base"),
            number_column(
                "Offsets",
                lambda row: row.segment.end_offset - row.segment.base_offset,
                (80,),
                about="From the base offset on; after compaction, not every offset has a message.",
            ),
            number_column("Batches", lambda row: row.segment.batches, (80, 0, 5), absent=tr("not counted")),
            number_column(
                "Size",
                lambda row: row.segment.size_bytes,
                (80,),
                shown=byte_size,
                hint=lambda row: tr("{size} bytes", size=f"{row.segment.size_bytes:,}"),
                kind="size",
            ),
            time_column("First (session)", lambda row: row.segment.first_ns, times, (110, 0, 3)),
            time_column("Last (session)", lambda row: row.segment.last_ns, times, (110, 0, 1)),
            Column(
                "Index",
                _index_word,
                (110, 0, 6),
                about="Whether the index file covers the segment; if not, opening the segment scans the file.",
            ),
        )
        super().__init__(columns, key=lambda row: row.key, more=_MORE)

    def facts(self, key: Hashable) -> Facts:
        row = self.row_of(key)
        return () if row is None else partition_facts(row.partition)


_MORE = (
    (Field("damaged", "flag", "Parts of it cannot be read."), lambda row: row.damaged),
    (Field("active", "flag", "Messages are appended to it."), lambda row: row.active),
)


def _index_word(row: SegmentRow) -> str:
    if row.partition.config.durability == "memory":
        return tr("none, in memory")
    return tr("saved") if row.segment.indexed else tr("when it is sealed") if row.active else tr("not saved")


def partition_facts(state: PartitionState) -> Facts:
    config = state.config
    kept = {
        "memory": tr("in memory: lost when the program ends; nothing is on disk"),
        "file": tr("in files: survives a crash of the program"),
        "fsync": tr("in files, synced before it is acknowledged: survives a power cut"),
    }[config.durability]
    roll = [byte_size(config.segment_bytes)]
    roll += [] if config.roll_ms is None else [duration(config.roll_ms * NS_PER_MS)]
    compacted = tombstones = ""
    if config.compacts:
        compacted = tr("up to offset {offset}", offset=f"{state.compacted_to:,}")
        tombstones = tr("kept for {time}", time=duration(config.tombstone_ms * NS_PER_MS))
    lost = [
        tr("offsets {first} to {last} are lost: {cause}", first=f"{first:,}", last=f"{end - 1:,}", cause=cause)
        for first, end, cause in state.lost[:20]
    ]
    return with_values(
        (tr("Partition"), f"{state.topic}/{state.partition}", f"lane:{state.topic}/{state.partition}"),
        (tr("Offsets"), tr("{first} to {end}", first=f"{state.start_offset:,}", end=f"{state.end_offset:,}")),
        (tr("Size"), tr("{size} in {count} segments", size=byte_size(state.size_bytes), count=len(state.segments))),
        (tr("Kept"), kept),
        (tr("Cleaned up by"), _cleanup(config)),
        (tr("Compacted"), compacted),
        (tr("Tombstones"), tombstones),
        (tr("New segment"), tr("after {limits}", limits=tr(" or ").join(roll))),
        *((tr("Corruption"), words) for words in lost or [tr("none found")]),
        (tr("Read-only"), state.read_only),
        *((tr("At opening"), note) for note in state.notes[:10]),
    )


def _cleanup(config: LogConfig) -> str:
    limits = []
    if config.deletes and config.retention_ms is not None:
        limits.append(tr("older than {time}", time=duration(config.retention_ms * NS_PER_MS)))
    if config.deletes and config.retention_bytes is not None:
        limits.append(tr("beyond {size}", size=byte_size(config.retention_bytes)))
    does = [tr("deleting segments {limits}", limits=tr(" or ").join(limits))] if limits else []
    does += [tr("compaction: the latest of each key")] if config.compacts else []
    return "; ".join(does) or tr("nothing: all segments are kept")


def summary_of(states: Sequence[PartitionState]) -> str:
    """How much there is of all logs, where, and how many partitions are corrupt or read-only; "" without any log."""
    size = byte_size(sum(state.size_bytes for state in states))
    in_memory = all(state.config.durability == "memory" for state in states)
    words = [tr("{size} in memory, nothing on disk", size=size) if in_memory else tr("{size} on disk", size=size)]
    if damaged := sum(1 for state in states if state.lost):
        words.append(tr("corrupt partitions: {count:,}", count=damaged))
    if read_only := sum(1 for state in states if state.read_only):
        words.append(tr("read-only partitions: {count:,}", count=read_only))
    return "; ".join(words) if states else ""


class LogOnDiskPanel(TablePanel):
    """`currentChanged(key)` is answered with `set_facts`; `linkFollowed(target)` from those."""

    info = declared("log_on_disk")

    linkFollowed = Signal(str)

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        self.facts = FactsGrid()
        self._hint = plain_label(tr("Choose a segment to see how its partition is stored."), "hint", wrap=True)
        super().__init__(model, parent)
        self.facts.linkFollowed.connect(self.linkFollowed)
        self.summary = plain_label("", "muted", self)
        self.title_row.insertWidget(2, self.summary)

    def body(self) -> QWidget:
        inner = QWidget()
        vbox(self._hint, self.facts, 1, on=inner, margins=(8, 4, 8, 8))
        area = scrolled(inner)
        area.setMinimumWidth(220)
        self.table.setMinimumWidth(260)
        return side_by_side(self, self.table, area, stretch=(1, 0), widths=(900, 300), collapsible=True)

    def set_facts(self, facts: Facts) -> None:
        self._hint.setVisible(not facts)
        self.facts.set_facts(facts)


class LogOnDiskPresenter(PanelPresenter[LogOnDiskPanel]):
    panel_class = LogOnDiskPanel

    def __init__(self, sources: Sources) -> None:
        self.model = model = SegmentsModel(sources.times)
        super().__init__(sources, model)
        panel = self.panel
        self._answers = Answers(self._controller, self)
        self.restart()
        panel.currentChanged.connect(lambda key: panel.set_facts(model.facts(key)))

    def restart(self) -> None:
        self._answers.drop()
        self._asked_ns = -1
        self._busy = self._past = False
        self._found: list[PartitionState] = []
        self.model.set_rows(())
        self.panel.set_facts(())
        self.panel.summary.setText("")
        self.panel.set_empty_words()

    def show(self, snapshot: Snapshot) -> None:
        past = self._controller.travel.looking_back
        if past != self._past:
            self.restart()
            self._past = past
            if past:
                # The broker has the log of now alone, and all other panels show the past.
                stored = self._controller.stored
                self.panel.set_empty_words(*(only_of_now() if stored is None else not_recorded(stored.why_no_branch())))
        if not past and not self._busy and (self._asked_ns < 0 or abs(snapshot.time_ns - self._asked_ns) >= NS_PER_S):
            self._asked_ns, self._busy, self._found = snapshot.time_ns, True, []
            self._ask(0)

    def _ask(self, first: int) -> None:
        self._answers.ask(
            DescribeLogs(first=first, most=PARTITIONS_AT_ONCE),
            lambda answer: self._answered(first, answer.partitions, answer.more),
            self._failed,
        )

    def _answered(self, first: int, found: Sequence[PartitionState], more: bool) -> None:
        self._found += found
        if more:
            self._ask(first + PARTITIONS_AT_ONCE)
            return
        self._busy = False
        self.model.set_rows(rows_of(self._found))
        self.panel.set_facts(self.model.facts(self.panel.current_key()))
        self.panel.summary.setText(summary_of(self._found))

    def _failed(self, sentence: str) -> None:
        self._busy = False
        if not self.model.total:
            self.panel.set_empty_words(tr("The log cannot be read."), sentence)
