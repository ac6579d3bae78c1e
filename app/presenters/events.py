"""The ordered stream of events as rows."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.presenters.columns import Column, number_column, state_column, time_column
from app.presenters.owners import Owners
from app.presenters.paged import PagedModel
from app.sessions.event_text import about, event_word, place_text
from broker_core.events import MESSAGE_KINDS, Event, EventKind, is_users
from broker_core.filters import Field, Filter
from widgets.formats import Times, plain_text
from widgets.i18n import tr


def _key_text(row: Event) -> str:
    if row.key is None:
        return tr("keys not read") if row.kind is EventKind.PUBLISHED and row.count > 1 else ""
    return plain_text(row.key, 40)


class EventsModel(PagedModel[Event]):
    def __init__(self, owners: Owners, times: Times, parent: QObject | None = None) -> None:
        columns: tuple[Column[Event], ...] = (
            number_column("#", lambda row: row.seq, (74, 0, 2), field="seq"),
            time_column("Time (session)", lambda row: row.time_ns, times, (110,)),
            state_column("Kind", event_word, (170,), kind="text", value=lambda row: (event_word(row), row.kind.value)),
            Column("Where", place_text, (150, 2), "place"),
            number_column(
                "Messages",
                lambda row: row.count,
                (82, 0, 4),
                shown=lambda found: f"{found:,}" if found else "",
                field="count",
            ),
            owners.owner_column("Client", lambda row: row.client, (130, 1, 1), known=True),
            Column("Group", lambda row: row.group, (90, 1, 3)),
            number_column(
                "Attempt", lambda row: row.attempt, (74, 0, 6), shown=lambda found: "" if found is None else str(found)
            ),
            Column("About", about, (160, 4), hint=about, field="cause", about="Cause and details."),
            Column(
                "Key",
                _key_text,
                (90, 1, 5),
                "mono",
                hint=lambda row: "" if row.key is None else plain_text(row.key, 400),
                kind="text",
                value=lambda row: row.key,
            ),
        )
        super().__init__(columns, lambda row: row.seq, parent, more=_MORE)

    def test(self, wanted: Filter) -> Callable[[Event], bool] | None:
        """What asks an event; None where every one fits."""
        return None if wanted.takes_all else wanted.tester(self.answers, self._haystack)

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
    (
        Field("control", "flag", "No message event: groups, clients, faults."),
        lambda row: row.kind not in MESSAGE_KINDS,
    ),
    (Field("dlq", "flag", "A message was dead-lettered."), lambda row: row.kind is EventKind.DEAD_LETTERED),
    (Field("redriven", "flag", "A message was redriven."), lambda row: row.kind is EventKind.REDRIVEN),
)
