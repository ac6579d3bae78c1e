from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import Qt

from app.presenters.columns import KEY_CHARS, Column, key_column, number_column, state_column, text_column, time_column
from app.presenters.owners import Owners
from app.presenters.paged import PAGE, PagedModel
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.sessions.event_text import about, event_word, kinds_of, place_text
from app.sessions.history.past import Past
from broker_core.events import MESSAGE_KINDS, Event, EventKind, is_users
from broker_core.filters import Field
from broker_core.snapshots import Snapshot
from widgets.formats import Times, plain_text
from widgets.i18n import localized, tr
from widgets.panels.events import EventsPanel

T = TypeVar("T")


def _key_text(row: Event) -> str:
    if row.key is None:
        return tr("keys not read") if row.kind is EventKind.PUBLISHED and row.count > 1 else ""
    return plain_text(row.key, KEY_CHARS)


class EventsModel(PagedModel[Event]):
    def __init__(self, owners: Owners, times: Times) -> None:
        columns: tuple[Column[Event], ...] = (
            number_column("#", lambda row: row.seq, (74, 0, 2), field="seq"),
            time_column("Time (session)", lambda row: row.time_ns, times, (110,)),
            state_column("Kind", event_word, (170,), kind="text", value=lambda row: (event_word(row), row.kind.value)),
            Column("Where", place_text, (180, 2), "place"),
            number_column(
                "Messages",
                lambda row: row.count,
                (82, 0, 4),
                shown=lambda found: localized(f"{found:,}") if found else "",
                field="count",
            ),
            owners.owner_column("Client", lambda row: row.client, (130, 1, 1), known=True),
            Column("Group", lambda row: row.group, (90, 1, 3)),
            number_column("Attempt", lambda row: row.attempt, (74, 0, 6), absent=""),
            text_column("About", about, (160, 4), field="cause", about="Cause and details."),
            key_column(lambda row: row.key, (90, 1, 5), text=_key_text),
        )
        super().__init__(columns, lambda row: row.seq, more=_MORE)

    def test(self) -> Callable[[Event], bool] | None:
        return None if self.filter.takes_all else self.filter.tester(self.answers, self._haystack)

    def _haystack(self, event: Event) -> str:
        key = "" if event.key is None else event.key.decode(errors="replace")
        words = (event_word(event), place_text(event), event.client, event.group, about(event), key)
        return "\n".join(words).casefold()


_MORE: tuple[tuple[Field, Callable[[Event], object]], ...] = (
    (Field("topic"), lambda row: row.topic),
    (Field("partition", "number"), lambda row: row.partition),
    (Field("offset", "number", "The first offset of the run."), lambda row: row.offset),
    (Field("size", "size"), lambda row: row.size_bytes),
    (Field("generation", "number"), lambda row: row.generation),
    (Field("mine", "flag", "One of my own actions."), is_users),
    (Field("control", "flag", "No message event: groups, clients, faults."), lambda row: row.kind not in MESSAGE_KINDS),
    (Field("dlq", "flag", "A message was dead-lettered."), lambda row: row.kind is EventKind.DEAD_LETTERED),
    (Field("redriven", "flag", "A message was redriven."), lambda row: row.kind is EventKind.REDRIVEN),
)


LIST_MOST = 100_000
SEARCH_EVENTS = 20_000

CHOICES: dict[str, frozenset[EventKind] | None] = {
    "all": None,
    **{choice: kinds_of(choice) for choice in ("mine", "rebalances", "brokers", "failures")},
    "alerts": frozenset({EventKind.ALERT_RAISED, EventKind.ALERT_OVER}),
    "control": frozenset(EventKind) - MESSAGE_KINDS,
    "messages": MESSAGE_KINDS,
}


class EventsPresenter(PanelPresenter[EventsPanel]):
    """Everything is a range by number; a choice or a filter makes a list, searched from the oldest event on."""

    panel_class = EventsPanel

    def __init__(self, sources: Sources) -> None:
        self.model = model = EventsModel(sources.owners, sources.times)
        super().__init__(sources, model)
        self._history, self._round = sources.history, 0
        self.restart()
        self.panel.choiceChanged.connect(lambda _choice: self._begin())
        model.filter_changed.connect(self._begin)
        model.page_wanted.connect(self._page, Qt.ConnectionType.QueuedConnection)

    def restart(self) -> None:
        self._end = self._searched = 0
        self._searching = self._begun = False
        self._round += 1
        self.model.show_list()

    def show(self, snapshot: Snapshot) -> None:
        self._end = snapshot.events
        if not self._begun:
            self._begin()
        elif self.model.lists:
            if self._end < self._searched and not self._searching:
                self._begin()  # a moment further back is shown now
            else:
                self._search()
        else:
            at_end = self.panel.follows()
            self.model.move_bounds(min(self._history.first_seq, self._end), self._end)
            if at_end:
                # Before they are painted as rows that are not here yet.
                first = max(self.model.bounds[0], self._end - PAGE)
                if self._is_in_ring(first, self._end):
                    self._page(first, self._end)
                self.panel.table.scrollToBottom()
        self._say()

    def _begin(self) -> None:
        self._begun = True
        self._round += 1
        self._searching = False
        if CHOICES[self.panel.choice()] is None and self.model.filter.takes_all:
            self.model.show_range(min(self._history.first_seq, self._end), self._end)
            self.panel.table.scrollToBottom()
        else:
            self.model.show_list()
            self._searched = min(self._history.first_seq, self._end)
            self._search()
        self._say()

    def _page(self, first: int, end: int) -> None:
        if self.model.lists:
            return
        if self._is_in_ring(first, end):
            self.model.put(first, self._history.ring.between(first, end), end)
        else:
            self._ask(lambda past: past.between(first, end), lambda events: self._paged(first, end, events))

    def _ask(self, work: Callable[[Past], T], then: Callable[[T], object]) -> None:
        """`then` gets the answer unless the rows were begun anew before."""
        asked_in = self._round
        self._history.ask(work, lambda found: then(found) if asked_in == self._round else None)

    def _is_in_ring(self, first: int, end: int) -> bool:
        return first >= self._history.ring.first_seq and self._history.ring.end_seq >= end

    def _paged(self, first: int, end: int, events: list[Event]) -> None:
        if events:
            self.model.put(events[0].seq, events, events[-1].seq + 1)
        else:
            self.model.missing(first, end)

    def _search(self) -> None:
        if self._searching or self._searched >= self._end or self.model.rowCount() >= LIST_MOST:
            return
        self._searching = True
        kinds, test = CHOICES[self.panel.choice()], self.model.test()
        mine = self.panel.choice() == "mine"
        first, end = self._searched, min(self._end, self._searched + SEARCH_EVENTS)

        def wanted(event: Event) -> bool:
            chosen = is_users(event) if mine else kinds is None or event.kind in kinds
            return chosen and (test is None or test(event))

        self._ask(lambda past: past.search(first, end, kinds, wanted), self._found)

    def _found(self, found: tuple[int, list[Event]]) -> None:
        self._searched, events = found
        self._searching = False
        follows = self.panel.follows()
        self.model.append(events[: max(0, LIST_MOST - self.model.rowCount())])
        if follows and events:
            self.panel.table.scrollToBottom()
        self._search()
        self._say()

    def _say(self) -> None:
        note = ""
        first = self._history.first_seq
        if self.model.lists and self.model.rowCount() >= LIST_MOST:
            note = tr("The first {count} are listed; filter to see others.", count=f"{LIST_MOST:,}")
        elif self.model.lists and self._searched < self._end:
            note = tr(
                "{looked} of {whole} events have been searched so far.",
                looked=f"{self._searched:,}",
                whole=f"{self._end:,}",
            )
        elif first:
            note = tr("The first {count} events are gone: this session is not recorded.", count=f"{first:,}")
        self.panel.set_note(note)
        searching = self.model.lists and self._searched < self._end
        self.panel.set_searching(searching and not self.model.rowCount())
