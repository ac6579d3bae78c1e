from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from PySide6.QtWidgets import QWidget

import resources
from broker_core.broker.occurrences import unknown_name, unknown_thing
from broker_core.errors import BrokerError
from broker_core.filters import Filter
from broker_core.names import check_name
from broker_core.operations.field_info import field_info
from broker_core.simulation.scenario import Scenario, ScenarioNames
from broker_core.snapshots import Snapshot
from widgets.dialogs.field_widgets import Field
from widgets.dialogs.form import FormDialog, Values
from widgets.formats import sentence
from widgets.i18n import tr

MOST = 1_000_000_000  # what a spin box of Qt holds
#: What is known when a form is opened goes before what the table says of a field; a field with None is left out.
Given = Mapping[str, Mapping[str, Any] | None]
_DECLARED: dict[str, Any] = resources.table("forms.toml")


class Form(NamedTuple):
    title: str
    about: str
    fields: tuple[Field, ...]
    button: str
    danger: bool

    def dialog(
        self, parent: QWidget, why_not: Callable[[Values], str], tell: Callable[[Values], str] = lambda _values: ""
    ) -> FormDialog:
        dialog = FormDialog(*self[:4], why_not=why_not, tell=tell, parent=parent)
        if self.danger:
            dialog.warn()
        return dialog


def form_of(name: str, given: Given, of: Sequence[type[msgspec.Struct]] = (), /, **words: object) -> Form:
    """The form `name` of `resources/forms.toml`, with `words` filled in.

    Fields without a kind take it from the one of the requests `of` that has them, with range, default and help.
    """
    declared = _DECLARED[name]
    title, fields = tr(declared["title"], **words), list(_fields(declared.get("fields", ())))
    if unknown := given.keys() - {each["name"] for each in fields}:
        raise KeyError(f"the form {name} has no field {', '.join(sorted(unknown))}")
    shown = ({**each, **more} for each in fields if (more := given.get(each["name"], {})) is not None)
    button = tr(declared["button"], **words) if "button" in declared else title
    made = tuple(_field(each, of) for each in shown)
    return Form(title, tr(declared.get("about", ""), **words), made, button, declared.get("danger", False))


def part_names(part: str) -> list[str]:
    return [each["name"] for each in _DECLARED["parts"][part]]


def _fields(declared: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for each in declared:
        if isinstance(each, str):
            yield from _DECLARED["parts"][each]
        else:
            yield {**(_DECLARED["like"][each["like"]] if "like" in each else {}), **each}


def _field(about: dict[str, Any], of: Sequence[type[msgspec.Struct]]) -> Field:
    about.pop("like", None)
    name, words = about.pop("name"), about.pop("words", {})
    about |= {text: tr(about[text]) for text in ("label", "hint", "suffix", "none") if text in about}
    if about.get("shown_for"):
        chooser, values = about["shown_for"]
        about["shown_for"] = (chooser, tuple(values))
    for request in of:
        if "kind" not in about and name in request.__struct_fields__:
            return request_field(request, name, words=words, **about)
    known = about.get("choices", ())
    more = known if isinstance(known, dict) else as_is(known)
    about["choices"] = tuple(({value: tr(word) for value, word in words.items()} | more).items())
    return Field(name, **about)


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
    least = (info.least or 0) / unit
    if given.get("none"):
        least = 0  # it stands for null
    elif info.above or (not whole and not least):
        least += 1.0 if whole else 0.1
    most = MOST if info.most is None else min(info.most / unit, MOST)
    numbers = {"least": least, "most": most, "unit": unit}
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


def not_there(snapshot: Snapshot, condition: Filter, scenario: Scenario | None = None) -> str:
    """The sentence that names what a condition asks for and the session does not have; "" if it has everything. It has
    all that its `scenario` makes, too.
    """
    things = {"group": group_names(snapshot), "queue": queue_names(snapshot), "client": client_names(snapshot)}
    if scenario is not None:
        names = ScenarioNames(scenario)
        things = {kind: [*there, *names.things[kind], *names.scheduled] for kind, there in things.items()}
    found = unknown_thing(condition, things) or unknown_name(condition, things)
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


def as_is(names: Iterable[str]) -> dict[str, str]:
    """Choices that need no words."""
    return {name: name for name in names}


def choice(known: Iterable[str] | Mapping[Any, str], value: object = None) -> dict[str, object]:
    """The arguments of a field in which one of the `known` names is chosen; of a mapping, the keys."""
    return {"choices": known, "value": value}


def free_name(base: str, taken: Iterable[str], first: int = 1) -> str:
    """`base`-`first`, or the next number that is free."""
    known = {name.lower() for name in taken}
    while f"{base}-{first}".lower() in known:
        first += 1
    return f"{base}-{first}"
