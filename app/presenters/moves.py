"""Where a consumer can be moved to, for the menu and the dialog."""

from __future__ import annotations

from broker_core.errors import BrokerError
from broker_core.names import check_name
from broker_core.snapshots import Snapshot
from widgets.canvas.view import NEW_GROUP
from widgets.dialogs.move_to_group import BENCH, MoveChoice
from widgets.i18n import tr
from widgets.theme_states import state_style


def current_group(snapshot: Snapshot, consumer: str) -> str:
    """The group that a consumer belongs to or is on its way to; "" on the bench."""
    actor = next((one for one in snapshot.actors if one.name == consumer), None)
    if actor is not None:
        return actor.target
    return next((group.name for group in snapshot.groups if any(one.client == consumer for one in group.members)), "")


def move_choices(snapshot: Snapshot, consumer: str) -> list[MoveChoice]:
    """Every group, the bench, and a new group; where the consumer already is says so."""
    now = current_group(snapshot, consumer)
    choices = []
    for group in snapshot.groups:
        members = len(group.members)
        reads = ", ".join(group.topics) or tr("nothing")
        about = tr(
            "{state}, {members}, reads {topics}",
            state=state_style(group.state).word,
            members=tr("1 member") if members == 1 else tr("{count} members", count=members),
            topics=reads,
        )
        reason = tr("{consumer} is in this group already.", consumer=consumer) if group.name == now else ""
        choices.append(MoveChoice(group.name, group.name, about, reason))
    benched = tr("{consumer} is on the bench already.", consumer=consumer) if not now else ""
    choices.append(MoveChoice(BENCH, tr("The bench"), tr("Reads nothing until it is moved again"), benched))
    choices.append(MoveChoice(NEW_GROUP, tr("New group..."), tr("Has all partitions to itself")))
    return choices


def group_name_error(name: str) -> str:
    """The sentence against a name for a new group; "" for none."""
    try:
        check_name(name, "group")
    except BrokerError as error:
        return str(error)
    return ""
