from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from app.presenters.columns import Column, number_column, time_column
from app.presenters.paged import PagedModel
from app.sessions.history.life import Place
from broker_core.filters import Field
from broker_core.operations.browse import MessageRow
from resources.units import byte_size
from widgets.formats import Times, plain_text
from widgets.i18n import tr
from widgets.roles import Role

PREVIEW_CHARS = 160
NO_KEY = ""


class MessagesModel(PagedModel[MessageRow]):
    """Columns: published, partition, offset, key, payload, headers, size. Offsets without a message say why."""

    def __init__(self, times: Times, parent: QObject | None = None) -> None:
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
            Column(
                "Key",
                lambda row: NO_KEY if row.key is None else plain_text(row.key, 60),
                (120, 1),
                "mono",
                hint=lambda row: tr("no key") if row.key is None else plain_text(row.key, 400),
                kind="text",
                value=lambda row: row.key,
            ),
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
                value=lambda row: tuple(f"{n}: {v.decode(errors='replace')}" for n, v in row.headers),
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
        super().__init__(columns, message_key, parent, more=_MORE)


_MORE: tuple[tuple[Field, Callable[[Any], Any]], ...] = (
    (Field("tombstone", "flag", "Has no value: deletes its key in a compacted topic."), lambda row: row.value is None),
)


def message_key(row: MessageRow) -> Place | None:
    return None if row.gap else Place(row.topic, row.partition, row.offset)


def _payload(row: MessageRow) -> str:
    if row.gap:
        return tr("(removed by compaction)") if row.gap == "compacted" else f"({row.gap})"
    return tr("(no value)") if row.preview is None else plain_text(row.preview, PREVIEW_CHARS)
