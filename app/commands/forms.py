from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from broker_core.broker.occurrences import unknown_thing
from broker_core.errors import BrokerError
from broker_core.filters import Filter
from broker_core.names import check_name
from broker_core.operations.field_info import field_info
from broker_core.snapshots import Snapshot
from widgets.dialogs.form import Field
from widgets.formats import sentence
from widgets.i18n import tr

MOST = 1_000_000_000  # what a spin box of Qt holds


def request_field(
    request: type[msgspec.Struct],
    name: str,
    label: str,
    *,
    unit: int = 1,
    words: Mapping[str, str] | None = None,
    **given: Any,
) -> Field:
    """A field of a form with the range, words, default and help of the request's field `name`.

    `unit` is how many of the request's units one of the form's is, as 1000 for seconds of a field in milliseconds;
    `words` are those of choices. `given` goes before what the request says; a field that may be null needs `none`.
    """
    info = field_info(request, name)
    # What stands in parentheses is said of the command line's words.
    hint = sentence(tr(info.about).partition(" (")[0]) if info.about else ""
    about: dict[str, Any] = {"value": info.default, "hint": hint}
    if info.choices:
        known = words or {}
        pairs = tuple((choice, tr(known[choice]) if choice in known else choice) for choice in info.choices)
        return Field(name, label, "choice", **{**about, "choices": pairs, **given})
    if info.base is bool:
        return Field(name, label, "check", **{**about, **given})
    if info.base not in {int, float}:
        return Field(name, label, **{**about, **given})
    whole = info.base is int
    step = 1.0 if whole else 0.1
    least = (info.least or 0) / unit
    if given.get("none"):
        least = 0  # it stands for null
    elif info.above or (not whole and not least):
        least += step
    most = MOST if info.most is None else min(info.most / unit, MOST)
    value = None if info.default is None else info.default / unit
    numbers = {"value": value, "least": least, "most": most, "unit": unit}
    return Field(name, label, "whole" if whole else "decimal", **{**about, **numbers, **given})


def name_error(name: str, what: str, taken: Iterable[str]) -> str:
    """The sentence against a new name; "" for none."""
    if not name:
        return tr("Enter a name.")
    try:
        check_name(name, what)
    except BrokerError as error:
        return str(error)
    if name.lower() in {each.lower() for each in taken}:
        return tr("The name {name} is already taken.", name=name)
    return ""


def not_there(snapshot: Snapshot, condition: Filter) -> str:
    """What a condition asks of a thing that is not there, in a sentence; "" for nothing."""
    things = {"group": group_names(snapshot), "queue": queue_names(snapshot), "client": client_names(snapshot)}
    found = unknown_thing(condition, things)
    return "" if found is None else found.translated(tr)


def client_names(snapshot: Snapshot) -> list[str]:
    return [actor.name for actor in snapshot.actors]


def topic_names(snapshot: Snapshot) -> list[str]:
    queues = {queue.name for queue in snapshot.queues}
    return [topic.name for topic in snapshot.topics if topic.name not in queues]


def place_names(snapshot: Snapshot) -> list[str]:
    """Topics and queues, which share their names."""
    return [topic.name for topic in snapshot.topics] + queue_names(snapshot)


def queue_names(snapshot: Snapshot) -> list[str]:
    return [queue.name for queue in snapshot.queues]


def group_names(snapshot: Snapshot) -> list[str]:
    return [group.name for group in snapshot.groups]


def choices(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in names}


def choice(name: str, label: str, known: Sequence[str] | dict[str, str], value: Any = None, **more: Any) -> Field:
    """A field of one of the `known` names, or of what stands for words."""
    words = known if isinstance(known, dict) else choices(known)
    return Field(name, label, "choice", value, choices=tuple(words.items()), **more)


def free_name(base: str, taken: Iterable[str], first: int = 1) -> str:
    """`base`-`first`, or the next number that is free."""
    known = {name.lower() for name in taken}
    while f"{base}-{first}".lower() in known:
        first += 1
    return f"{base}-{first}"


def for_s(value: float | None) -> Field:
    """How long a fault lasts, in seconds of session time; None until it is ended."""
    return Field(
        "for_s", tr("For"), "decimal", value, most=86_400, suffix=tr(" s of session time"), none=tr("until it is ended")
    )
