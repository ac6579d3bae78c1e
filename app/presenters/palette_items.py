"""Everything that a session has, by name, for the palette."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from widgets.timeline import Tick

MOMENTS_MOST, REBALANCES_MOST = 300, 60  # the newest ones


def things(snapshot: Snapshot, rates: Rates, ticks: Sequence[Tick]) -> list[PaletteEntry]:
    """Topics, partitions, queues, groups and clients, with their ids on the canvas; rebalances, and what was published
    between them; bookmarks, faults and actions, which are `ticks` of the timeline.
    """
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
        *_rebalances(snapshot),
        *_moments(ticks),
    ]


def _rebalances(snapshot: Snapshot) -> Iterator[PaletteEntry]:
    """Each with its cause, and what was published since the one before."""
    for group in snapshot.groups:
        found = sorted((one for one in snapshot.rebalances if one.group == group.name), key=lambda one: one.started_ns)[
            -REBALANCES_MOST:
        ]
        for before, one in zip([None, *found], found, strict=False):
            at = session_time(one.started_ns)
            yield PaletteEntry(
                f"rebalance:{one.group}/{one.started_ns}",
                tr("Rebalance of {group} at {time}", group=one.group, time=at),
                one.cause,
                icon=icon("rebalancing", current_theme(), "muted"),
                is_thing=True,
            )
            if before is not None:
                yield PaletteEntry(
                    f"published:{before.started_ns}-{one.started_ns}",
                    tr("Published between the rebalances of {group}", group=one.group),
                    f"{session_time(before.started_ns)} - {at}",
                    icon=icon("message", current_theme(), "muted"),
                    is_thing=True,
                    enter=tr("Enter lists the messages, Escape closes."),
                )


def _moments(ticks: Sequence[Tick]) -> Iterator[PaletteEntry]:
    words = {
        "bookmark": ("bookmark", tr("Bookmark"), "bookmark"),
        "fault": ("moment", tr("Fault"), "warning"),
        "action": ("moment", tr("My action"), "command"),
    }
    for tick in [one for one in ticks if one.kind in words][-MOMENTS_MOST:]:
        target, category, picture = words[tick.kind]
        yield PaletteEntry(
            f"{target}:{tick.time_ns}",
            tick.label,
            f"{category}, {session_time(tick.time_ns)}",
            icon=icon(picture, current_theme(), "muted"),
            is_thing=True,
            enter=tr(GO_THERE),
        )


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
