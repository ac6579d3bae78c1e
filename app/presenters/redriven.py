from __future__ import annotations

from app.presenters.columns import Column, number_column, state_column, time_column
from app.presenters.table import TableModel
from app.sessions.event_text import event_word
from app.sessions.history.life import Place
from app.sessions.history.redrives import RedrivenMessage
from broker_core.filters import Field
from widgets.formats import Times, duration, plain_text


class RedrivenModel(TableModel[RedrivenMessage]):
    def __init__(self, times: Times) -> None:
        columns: tuple[Column[RedrivenMessage], ...] = (
            time_column("Redriven (session)", lambda row: row.redriven.time_ns, times, (130,), field="redriven_at"),
            Column("Queue", lambda row: row.redriven.group, (90, 1, 3)),
            number_column(
                "Dead letter",
                lambda row: row.redriven.offset,
                (84, 0, 4),
                field="letter",
                about="Its offset in the dead-letter queue.",
            ),
            Column(
                "Now at",
                lambda row: str(place_of(row)),
                (130, 2),
                "place",
                field="place",
                about="Where the redrive appended it.",
            ),
            Column(
                "Key",
                lambda row: "" if row.redriven.key is None else plain_text(row.redriven.key, 40),
                (90, 1, 2),
                "mono",
            ),
            Column("Cause", lambda row: row.redriven.cause, (100, 3, 1), field="cause"),
            state_column(
                "Since then",
                lambda row: event_word(row.fate) if row.fate is not None else "Waiting",
                (130, 1),
                field="fate",
                about="The last event of the message since the redrive.",
            ),
            number_column("Deliveries", lambda row: row.deliveries, (84, 0, 6)),
            Column("By", lambda row: row.fate.client if row.fate else "", (90, 1, 5), field="client"),
            number_column(
                "After",
                lambda row: row.fate.time_ns - row.redriven.time_ns if row.fate else None,
                (76, 0, 7),
                shown=lambda after_ns: "" if after_ns is None else duration(after_ns),
                kind="duration",
                about="Time from the redrive until then.",
            ),
        )
        super().__init__(columns, key=lambda row: row.redriven.seq, more=_MORE)


_MORE = ((Field("redriven", "flag", "Redriven, like all in this list."), lambda _row: True),)


def place_of(row: RedrivenMessage) -> Place:
    event = row.redriven
    return Place(event.to_topic, event.to_partition or 0, event.to_offset or 0)
