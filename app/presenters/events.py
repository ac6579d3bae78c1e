"""The ordered stream of events as rows."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.presenters.columns import Column, time_column
from app.presenters.owners import Owners
from app.presenters.paged import PagedModel
from app.sessions.event_text import about, event_word, place_text
from broker_core.events import MESSAGE_KINDS, Event, EventKind, is_users
from broker_core.filters import Field, Filter
from widgets.formats import Times, plain_text
from widgets.i18n import tr
from widgets.roles import Role


def _key_text(row: Event) -> str:
    if row.key is None:
        return tr("keys not read") if row.kind is EventKind.PUBLISHED and row.count > 1 else ""
    return plain_text(row.key, 40)


class EventsModel(PagedModel[Event]):
    def __init__(self, owners: Owners, times: Times, parent: QObject | None = None) -> None:
        columns: tuple[Column[Event], ...] = (
            Column[Event](tr("#"), lambda row: f"{row.seq:,}", lambda row: row.seq, numeric=True, field="seq"),
            time_column(tr("Time (session)"), lambda row: row.time_ns, times, field="time"),
            Column[Event](
                tr("Kind"),
                event_word,
                roles={Role.STATE: event_word},
                field="kind",
                kind="text",
                value=lambda row: (event_word(row), row.kind.value),
            ),
            Column[Event](tr("Where"), place_text, field="where"),
            Column[Event](
                tr("Messages"),
                lambda row: f"{row.count:,}" if row.count else "",
                lambda row: row.count,
                numeric=True,
                field="count",
            ),
            Column[Event](
                tr("Client"),
                lambda row: row.client,
                roles=owners.roles_of_known(lambda row: row.client),
                field="client",
            ),
            Column[Event](tr("Group"), lambda row: row.group, field="group"),
            Column[Event](
                tr("Attempt"),
                lambda row: "" if row.attempt is None else str(row.attempt),
                lambda row: row.attempt,
                numeric=True,
                field="attempt",
            ),
            Column[Event](tr("About"), about, hint=about, field="cause", about=tr("Cause and details.")),
            Column[Event](
                tr("Key"),
                _key_text,
                hint=lambda row: "" if row.key is None else plain_text(row.key, 400),
                field="key",
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
