from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import Qt

from app.presenters.columns import Column, key_column, number_column, time_column
from app.presenters.paged import PagedModel, not_recorded
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.sessions.history.life import Place
from app.sessions.queries import Answers
from broker_core.clock import NS_PER_S
from broker_core.filters import Field
from broker_core.messages import header_texts
from broker_core.operations.browse import (
    Bounds,
    BrowseMessages,
    BrowsePartition,
    FindOffsets,
    ListLogs,
    LogName,
    MergeStep,
    MessageRow,
    Page,
)
from broker_core.snapshots import PartitionView, Snapshot
from widgets.formats import Times, byte_size, plain_text, session_time
from widgets.i18n import tr
from widgets.panels.messages import MessagesPanel
from widgets.roles import Role

PREVIEW_CHARS = 160


class MessagesModel(PagedModel[MessageRow]):
    """Columns: published, partition, offset, key, payload, headers, size. Offsets without a message say why."""

    def __init__(self, times: Times) -> None:
        columns: tuple[Column[MessageRow], ...] = (
            time_column(
                "Published (session)",
                lambda row: None if row.gap else row.published_ns,
                times,
                (138,),
                field="published",
            ),
            number_column("Partition", lambda row: row.partition, (78, 0, 2), shown=str),
            number_column("Offset", lambda row: row.offset, (84,)),
            key_column(lambda row: row.key, (120, 1), none=tr("no key")),
            Column(
                "Payload",
                _payload,
                (150, 4),
                "mono",
                hint=lambda row: row.gap or plain_text(row.preview, 400),
                roles={Role.WARN: lambda row: "muted" if row.gap or row.preview is None else ""},
                about="The beginning of the value as text; unprintable characters are escaped.",
                field="value",
                kind="text",
                value=lambda row: row.preview,
            ),
            Column(
                "Headers",
                lambda row: ", ".join(f"{name}={plain_text(value, 20)}" for name, value in row.headers[:4]),
                (110, 1, 3),
                "mono",
                hint=lambda row: "\n".join(f"{name}: {plain_text(value, 80)}" for name, value in row.headers[:30]),
                field="header",
                kind="text",
                value=lambda row: header_texts(row.headers),
                about="Name and value, as in trace-id: 7.",
            ),
            number_column(
                "Size",
                lambda row: row.size_bytes,
                (74, 0, 1),
                text=lambda row: "" if row.gap else byte_size(row.size_bytes),
                kind="size",
                about="Bytes of the value.",
            ),
        )
        super().__init__(columns, message_key, more=_MORE)


_MORE: tuple[tuple[Field, Callable[[Any], Any]], ...] = (
    (Field("tombstone", "flag", "Has no value: deletes its key in a compacted topic."), lambda row: row.value is None),
)


def message_key(row: MessageRow) -> Place | None:
    return None if row.gap else Place(row.topic, row.partition, row.offset)


def _payload(row: MessageRow) -> str:
    if row.gap:
        return tr("(removed by compaction)") if row.gap == "compacted" else f"({row.gap})"
    return tr("(no value)") if row.preview is None else plain_text(row.preview, PREVIEW_CHARS)


LIST_MOST = 100_000
STEP_ROWS = 200
TAIL_ROWS = 5_000
TAIL_START = 50


class MessagesPresenter(PanelPresenter[MessagesPanel]):
    """One partition without a filter is a range with a true scroll bar; everything else is a list that grows."""

    panel_class = MessagesPanel

    def __init__(self, sources: Sources) -> None:
        self.model = model = MessagesModel(sources.times)
        super().__init__(sources, model)
        panel = self.panel
        self._answers, self._source_answers = Answers(self._controller, self), Answers(self._controller, self)
        # In the past, only what was published by then is shown.
        self._live = True
        self._went = self._came_back = False
        self.restart()
        model.filter_changed.connect(self.begin)
        panel.whereChanged.connect(lambda _where: self.begin(went=True))
        panel.startChanged.connect(lambda _start: self.begin(went=True))
        panel.moreWanted.connect(self._more)
        panel.newerWanted.connect(self.begin)
        panel.shown.connect(self._came_to_front)
        model.page_wanted.connect(self._page, Qt.ConnectionType.QueuedConnection)

    def _forget(self) -> None:
        self._begun, self._begun_ns = False, 0
        self._cursors: dict[int, int] = {}
        self._ends: dict[int, int] = {}  # by partition, where the list was begun at the newest
        self._stepping = self._measuring = self._done = False
        self._looked = self._found = 0
        self._there = 0
        self._problem = ""

    def restart(self) -> None:
        self._answers.drop()
        self._forget()
        self._sources_ns, self._sources_known = -1, False
        self.model.show_list()
        self._snapshot: Snapshot | None = None

    def show(self, snapshot: Snapshot) -> None:
        before = self._snapshot
        moved = before is not None and (snapshot.time_ns, snapshot.events) != (before.time_ns, before.events)
        self._snapshot = snapshot
        if self._controller.live != self._live or (moved and not self._live and self.model.lists):
            self._live = self._controller.live
            self._begun = False
        self._ask_sources(snapshot.time_ns)
        if self._came_back and self._newer and not self.panel.selected_count():
            self._begun = False  # nobody reads a message of the list
        self._came_back = False
        if not self._begun:
            self.begin()
        elif self.model.lists:
            self.panel.set_total(max(self.model.rowCount(), self._whole()))
            if self.panel.start().kind == "tail":
                self._step()
            elif self._found_none and (self._newer or abs(snapshot.time_ns - self._begun_ns) >= NS_PER_S):
                self.begin()  # a session that has just begun, or is run again, has none yet
        else:
            self._measure()
        self.panel.set_newer(self._newer)

    def _came_to_front(self) -> None:
        self._came_back = True
        self.panel.set_loading(not self._begun)

    @property
    def _newer(self) -> int:
        if not self._live:
            return 0
        ends = self._ends
        return sum(max(0, part.end_offset - ends.get(part.partition, part.end_offset)) for part in self._parts or ())

    @property
    def _found_none(self) -> bool:
        return self._done and self.model.filter.takes_all and not self.model.rowCount()

    def _ask_sources(self, now_ns: int) -> None:
        if self._sources_ns < 0 or abs(now_ns - self._sources_ns) >= NS_PER_S:
            self._sources_ns = now_ns

            def show(found: list[LogName]) -> None:
                known, self._sources_known = self._sources_known, True
                self.panel.set_sources(tuple((log.name, log.partitions) for log in found))
                if not (known or found):
                    self._say()

            self._source_answers.ask(ListLogs(), show, self._failed)

    @property
    def _moment_ns(self) -> int | None:
        return None if self._live or self._snapshot is None else self._snapshot.time_ns

    @property
    def _ends_then(self) -> dict[int, int]:
        """The end offsets at that moment by partition, if they are known; events may share a time."""
        return {} if self._moment_ns is None else {part.partition: part.end_offset for part in self._parts or ()}

    def _bounds_then(self, found: Bounds) -> tuple[int, int]:
        return found.start, max(found.start, min(found.end, self._ends_then.get(found.partition, found.end)))

    def begin(self, *, went: bool = False) -> None:
        """Browse again with the panel's fields; `went` where the user has just chosen them."""
        self._went = went
        if self._snapshot is None:
            return
        self._answers.drop()
        self._forget()
        self._begun, self._begun_ns = True, self._snapshot.time_ns
        if went or self.model.rowCount():
            self.panel.set_loading(True)
        where, start = self.panel.where(), self.panel.start()
        if not where.topic or not where.partitions:
            self.model.show_list()
            self._say()
            return
        if len(where.partitions) == 1 and self.model.filter.takes_all and start.kind != "tail":
            self.model.show_range(0, 0)
            self._measure()
        else:
            self.model.show_list()
            self._find_cursors()

    def _measure(self) -> None:
        if self._measuring:
            return
        self._measuring = True
        self._answers.ask(self._find(), self._measured, self._failed)

    def _find(self, from_ns: int | None = None) -> FindOffsets:
        where = self.panel.where()
        only = where.partitions[0] if len(where.partitions) == 1 else None
        return FindOffsets(topic=where.topic, partition=only, until_ns=self._moment_ns, from_ns=from_ns)

    def _measured(self, found: list[Bounds]) -> None:
        self._measuring = False
        self._problem = ""
        start, end = self._bounds_then(found[0])
        first_time = self.model.bounds == (0, 0)
        at_end = self.panel.is_at_end()
        self.model.move_bounds(start, end) if not first_time else self.model.show_range(start, end)
        if first_time and end > start:
            self._go_to_start()
        elif at_end and self.panel.start().kind == "newest":
            self.panel.table.scrollToBottom()
        self._say()

    def _go_to_start(self) -> None:
        start = self.panel.start()
        if start.kind == "newest":
            self.panel.table.scrollToBottom()
        elif start.kind == "oldest":
            self.panel.scroll_to(0)
        elif start.kind == "offset":
            self._show_place(self.model.place_of_number(start.value))
        else:
            self._answers.ask(
                self._find(start.value),
                lambda found: self._show_place(self.model.place_of_number(found[0].found)),
                self._failed,
            )

    def _show_place(self, place: int) -> None:
        """Scroll to the top; select only where the user went there, since a selection is inspected."""
        if self._went:
            self.panel.select_row(place)
        else:
            self.panel.scroll_to(place)

    def _page(self, first: int, end: int) -> None:
        where = self.panel.where()
        if self.model.lists or len(where.partitions) != 1:
            return

        def failed(sentence: str) -> None:
            self.model.missing(first, end)
            self._failed(sentence)

        request = BrowsePartition(topic=where.topic, partition=where.partitions[0], first=first, end=end)
        self._answers.ask(request, partial(self._paged, first, end), failed)

    def _paged(self, first: int, end: int, page: Page) -> None:
        self.model.put(page.first, page.rows, page.end)
        if page.end <= page.first:
            self.model.missing(first, end)
        elif page.end < end:
            self._page(page.end, end)

    def _find_cursors(self) -> None:
        where, start = self.panel.where(), self.panel.start()

        def cursor(at: Bounds) -> int:
            first, end = self._bounds_then(at)
            match start.kind:
                case "oldest":
                    return first
                case "newest":
                    return end
                case "tail":
                    return max(first, end - TAIL_START // len(where.partitions) - 1)
                case "offset":
                    return max(first, min(start.value, end))
            return at.found

        def answered(found: list[Bounds]) -> None:
            chosen = [at for at in found if at.partition in where.partitions]
            self._cursors = {at.partition: cursor(at) for at in chosen}
            self._there = sum(end - first for first, end in map(self._bounds_then, chosen))
            self._ends = dict(self._cursors) if start.kind == "newest" else {}
            self._step()

        self._answers.ask(self._find(start.value if start.kind == "time" else None), answered, self._failed)

    def _more(self) -> None:
        if self.model.lists and not self._done:
            self._step()

    def _step(self) -> None:
        if self._stepping or not self._cursors or (self._done and self.panel.start().kind != "tail"):
            return
        if self.model.rowCount() >= LIST_MOST:
            return
        self._stepping = True
        request = BrowseMessages(
            topic=self.panel.where().topic,
            cursors=dict(self._cursors),
            back=self.panel.start().kind == "newest",
            filter=self.model.filter.text,
            until_ns=self._moment_ns,
            ends=self._ends_then,
            most=STEP_ROWS,
        )
        self._answers.ask(request, self._stepped, self._failed)

    def _stepped(self, step: MergeStep) -> None:
        self._stepping = False
        tail = self.panel.start().kind == "tail"
        at_end = self.panel.is_at_end()
        self._cursors, self._done = step.cursors, step.done
        self._looked += step.looked
        self._found += len(step.rows)
        self.model.append(step.rows, TAIL_ROWS if tail else 0)
        if tail and step.rows and at_end:
            self.panel.table.scrollToBottom()
        self._say()
        if step.done:
            return
        # A filter looks on until it has filled the view or reached the end; the live tail catches up.
        if tail or self.model.rowCount() < STEP_ROWS or (not self.model.filter.takes_all and self.panel.is_at_end()):
            self._step()

    def _whole(self) -> int:
        """How many messages the chosen partitions hold, loaded or not; of a queue, when the list was begun."""
        if self._parts is None:
            return self._there
        return sum(part.messages_count for part in self._parts if part.partition in self.panel.where().partitions)

    @property
    def _parts(self) -> tuple[PartitionView, ...] | None:
        topic = None if self._snapshot is None else self._snapshot.topic(self.panel.where().topic)
        return None if topic is None else topic.partitions

    def _failed(self, sentence: str) -> None:
        self._stepping = self._measuring = False
        self._problem = sentence
        self._say()

    def _say(self) -> None:
        view, model = self.panel, self.model
        shown = model.rowCount()
        view.set_total(max(shown, self._whole()) if model.lists or self._problem else shown)
        if self._problem and (stored := self._controller.stored) is not None:
            view.set_empty_words(*not_recorded(stored.why_no_branch()))
        elif self._problem:
            view.set_empty_words(tr("The messages cannot be read."), self._problem)
        else:
            view.set_empty_words()
        note = ""
        if model.lists and shown >= LIST_MOST:
            note = tr("The first {count} are listed. Filter, or start elsewhere.", count=f"{LIST_MOST:,}")
        elif self._problem and shown:
            note = self._problem
        elif not model.filter.takes_all and self.panel.start().kind != "tail":
            end = tr("all of them") if self._done else tr("so far")
            note = tr(
                "{looked} messages were searched, {end}; {found} match.",
                looked=f"{self._looked:,}",
                end=end,
                found=f"{self._found:,}",
            )
        elif model.lists and self.panel.start().kind == "tail" and shown >= TAIL_ROWS:
            note = tr("The last {count} are listed while you follow.", count=f"{TAIL_ROWS:,}")
        elif (moment_ns := self._moment_ns) is not None:
            note = tr("As it was at {time}.", time=session_time(moment_ns))
        view.set_note(note)
        view.set_loading(not shown and not self._problem and (self._stepping or not self._sources_known))
