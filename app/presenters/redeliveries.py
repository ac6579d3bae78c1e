from __future__ import annotations

from typing import Any

from app.presenters.columns import Column, number_column, state_column, text_column, time_column
from app.presenters.owners import Owners
from app.presenters.panel_presenter import PanelPresenter, Sources, overfull_words
from app.presenters.table import TableModel
from app.sessions.history.redeliveries import Redelivery, redeliveries
from broker_core.filters import Field
from broker_core.snapshots import Snapshot
from resources.account import REASONS
from widgets.formats import NOT_APPLICABLE, Times, duration
from widgets.i18n import localized, mark, tr
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel

# Its owner asked once more for what it had in hand.
SOUGHT = mark("Fetched again")


def why_word(row: Redelivery) -> str:
    return REASONS[row.reason].title if row.reason else SOUGHT


def _where(row: Redelivery) -> str:
    if row.messages == 1:
        return str(row.place)
    last = row.offset + row.messages - 1
    return tr("{place} to {last:,}", place=str(row.place), last=last)


class RedeliveriesModel(TableModel[Redelivery]):
    """One row a run of messages that were delivered again at once, the newest first. Keys are (seq, offset)."""

    def __init__(self, owners: Owners, times: Times) -> None:
        def some(messages: int) -> str:
            return localized(f"{messages:,}") if messages else ""

        columns: tuple[Column[Redelivery], ...] = (
            time_column("Delivered (session)", lambda row: row.delivered.time_ns, times, (138,), field="time"),
            Column("Message", _where, (150, 2), "place", sort=lambda row: row.place, kind="text", value=_where),
            number_column(
                "Delivered again",
                lambda row: 0 if row.is_fetched else row.messages,
                (118,),
                shown=some,
                field="again",
                about="Messages that their owner had lost, or had acknowledged: they may have been handled twice.",
            ),
            number_column(
                "Fetched again",
                lambda row: row.messages if row.is_fetched else 0,
                (110,),
                shown=some,
                field="fetched",
                about="Messages that their owner fetched once more: after a seek or a pause, or because it had "
                "discarded them.",
            ),
            Column("Reader", lambda row: row.delivered.group, (110, 2), about="The group or the queue."),
            owners.owner_column("To", lambda row: row.delivered.client, (120, 1), known=True),
            owners.owner_column(
                "Before to",
                lambda row: NOT_APPLICABLE if row.before is None else row.before.client,
                (120, 1, 3),
                known=True,
                field="before",
                about="The previous owner.",
            ),
            number_column(
                "After",
                lambda row: None if row.before is None else row.delivered.time_ns - row.before.time_ns,
                (84, 0, 4),
                shown=duration,
                kind="duration",
                about="Since the previous delivery.",
            ),
            state_column(
                "Why",
                why_word,
                (160, 1),
                kind="text",
                value=lambda row: (why_word(row), row.reason),
                about="Why its reader had it no more when it was delivered again.",
            ),
            text_column("Cause", lambda row: "" if row.why is None else row.why.cause, (140, 4, 1)),
            number_column(
                "Times", lambda row: row.times, (64, 0, 2), about="How often the reader had received it by then."
            ),
        )
        more = (
            (Field("topic", "text", "The topic or queue."), lambda row: row.delivered.topic),
            (Field("partition", "number", "The partition."), lambda row: row.delivered.partition),
            (Field("offset", "number", "The first offset."), lambda row: row.offset),
        )
        super().__init__(columns, key=lambda row: (row.delivered.seq, row.offset), more=more)


class RedeliveriesPanel(TablePanel):
    info = declared("redeliveries")


class RedeliveriesPresenter(PanelPresenter[RedeliveriesPanel]):
    """Asks the history whenever there are more, or fewer, than were known."""

    panel_class = RedeliveriesPanel

    def __init__(self, sources: Sources) -> None:
        self.model = RedeliveriesModel(sources.owners, sources.times)
        super().__init__(sources, self.model)
        self._history = sources.history
        self.restart()

    def thing_of(self, key: Any) -> str:
        row = self.model.row_of(key)
        return "" if row is None else row.place.id

    def restart(self) -> None:
        self._count = 0
        self._asking = False
        self.model.set_rows(())
        self.panel.set_messages(0)
        self.panel.set_note("")

    def show(self, snapshot: Snapshot) -> None:
        count = snapshot.totals.redelivered + snapshot.totals.fetched_again
        if count == self._count or self._asking:
            return
        self._asking = True
        self.panel.set_empty_words(tr("Counting..."))

        def answered(found: list[Redelivery]) -> None:
            self._count, self._asking = count, False
            listed = sum(row.messages for row in found)
            self.model.set_rows(tuple(found))
            self.panel.set_empty_words()
            self.panel.set_messages(listed)
            self.panel.set_note(overfull_words(listed, count, tr("redelivered messages")))

        self._history.ask(lambda past: redeliveries(past, snapshot.time_ns), answered)
