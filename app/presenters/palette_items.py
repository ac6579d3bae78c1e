"""Everything that a session has, by name, for the palette."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtGui import QIcon

from app.presenters.other_producers import other_producers
from app.presenters.palette_search import GO_THERE
from app.presenters.rates import Rates
from broker_core.snapshots import Snapshot
from widgets.formats import session_time
from widgets.i18n import tr
from widgets.icons import icon
from widgets.palette import PaletteEntry
from widgets.theme import current_theme


def things(snapshot: Snapshot, rates: Rates, bookmarks: Iterable[tuple[int, str]]) -> list[PaletteEntry]:
    """Topics, partitions, queues, groups and clients, with their ids on the canvas, and bookmarks: time_ns, name."""
    dressed: dict[str, QIcon] = {}

    def entry(kind: str, name: str, category: str, picture: str = "") -> PaletteEntry:
        picture = picture or kind
        if picture not in dressed:
            dressed[picture] = icon(picture, current_theme(), "muted")
        return PaletteEntry(f"{kind}:{name}", name, category, icon=dressed[picture], is_thing=True)

    return [
        *(entry("topic", topic.name, tr("Topic")) for topic in snapshot.topics),
        *(
            entry("lane", f"{topic.name}/{part.partition}", tr("Partition"), "layers")
            for topic in snapshot.topics
            for part in topic.partitions
        ),
        *(entry("queue", queue.name, tr("Queue")) for queue in snapshot.queues),
        *(entry("dlq", queue.name, tr("Dead letters"), "dead-letter") for queue in snapshot.queues if queue.dead),
        *(entry("group", group.name, tr("Group")) for group in snapshot.groups),
        *(entry(kind, name, category) for kind, name, category in _clients(snapshot, rates)),
        *(
            PaletteEntry(
                f"bookmark:{at_ns}",
                name,
                f"{tr('Bookmark')}, {session_time(at_ns)}",
                icon=icon("bookmark", current_theme(), "muted"),
                is_thing=True,
                enter=tr(GO_THERE),
            )
            for at_ns, name in bookmarks
        ),
    ]


def _clients(snapshot: Snapshot, rates: Rates) -> Iterator[tuple[str, str, str]]:
    names = {"producer": tr("Producer"), "consumer": tr("Consumer"), "worker": tr("Worker")}
    known = {actor.name for actor in snapshot.actors}
    for actor in snapshot.actors:
        kind = actor.role if actor.role in names else "worker"
        yield kind, actor.name, f"{names[kind]}, {actor.target}" if actor.target else names[kind]
    for other in other_producers(snapshot, rates):
        yield "producer", other.name, f"{names['producer']}, {', '.join(other.topics)}"
    for group in snapshot.groups:
        for member in group.members:
            if member.client not in known:
                yield "consumer", member.client, f"{names['consumer']}, {group.name}"
