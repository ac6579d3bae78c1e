"""The view Redriven of the dead letters: what the redrive did to each message."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.presenters.columns import Column, time_column
from app.presenters.table import TableModel
from app.sessions.event_text import event_word
from app.sessions.history.life import Place
from app.sessions.history.redrives import RedrivenMessage
from broker_core.filters import Field
from widgets.formats import Times, duration, plain_text
from widgets.i18n import tr
from widgets.roles import Role


class RedrivenModel(TableModel[RedrivenMessage]):
    def __init__(self, times: Times, parent: QObject | None = None) -> None:
        columns: tuple[Column[RedrivenMessage], ...] = (
            time_column(tr("Redriven (session)"), lambda row: row.redriven.time_ns, times, field="redriven_at"),
            Column[RedrivenMessage](tr("Queue"), lambda row: row.redriven.group, field="queue"),
            Column[RedrivenMessage](
                tr("Dead letter"),
                lambda row: f"{row.redriven.offset:,}",
                lambda row: row.redriven.offset,
                numeric=True,
                field="letter",
                about=tr("Offset among the dead letters."),
            ),
            Column[RedrivenMessage](
                tr("Now at"), lambda row: str(place_of(row)), field="place", about=tr("Where the redrive appended it.")
            ),
            Column[RedrivenMessage](
                tr("Key"),
                lambda row: "" if row.redriven.key is None else plain_text(row.redriven.key, 40),
                field="key",
            ),
            Column[RedrivenMessage](tr("Died of"), lambda row: row.redriven.cause, field="cause"),
            Column[RedrivenMessage](
                tr("Since then"),
                fate_word,
                roles={Role.STATE: fate_word},
                field="fate",
                about=tr("The last event of the message since the redrive."),
            ),
            Column[RedrivenMessage](
                tr("Deliveries"), lambda row: str(row.deliveries), lambda row: row.deliveries, numeric=True
            ),
            Column[RedrivenMessage](tr("By"), lambda row: row.fate.client if row.fate else "", field="client"),
            Column[RedrivenMessage](
                tr("After"),
                lambda row: duration(row.fate.time_ns - row.redriven.time_ns) if row.fate else "",
                lambda row: row.fate.time_ns - row.redriven.time_ns if row.fate else -1,
                numeric=True,
                field="after",
                kind="duration",
                about=tr("From the redrive to that."),
            ),
        )
        super().__init__(columns, key=lambda row: row.redriven.seq, parent=parent, more=_MORE)


_MORE = ((Field("redriven", "flag", "Redriven, as all here."), lambda _row: True),)


def place_of(row: RedrivenMessage) -> Place:
    """Where the redrive put it."""
    event = row.redriven
    return Place(event.to_topic, event.to_partition or 0, event.to_offset or 0)


def fate_word(row: RedrivenMessage) -> str:
    return event_word(row.fate) if row.fate is not None else "Waiting"
