from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator

from broker_core.broker import occurrences
from broker_core.broker.conditions import FIELDS, STATE_FIELDS
from broker_core.faults.kafka_names import KAFKA_APIS, KAFKA_ERRORS
from broker_core.filters.field import KIND_WORDS, Field
from broker_core.recording.audit import Audit
from broker_core.testing.clock import BrokerClock
from broker_core.testing.faults import Faults
from broker_core.testing.schedule import Disturbance
from widgets.formats import sentence


def testing_reference() -> str:
    """Markdown. `resources/guides/testing-reference.md` is this."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# What a test can ask a broker"
    yield "\n## Conditions: `broker.wait_until(condition)`\n"
    yield from _table(("Field", "Of", ""), map(_field_row, FIELDS))
    for field in FIELDS:
        if field.words:
            yield f"\n{_words(field.name, field.words)}"
    yield from _methods("Verdicts", "broker.audit()", Audit)
    yield from _methods("Faults", "broker.faults", Faults)
    yield f"\n{_words('api', KAFKA_APIS)}"
    yield f"\n{_words('error', KAFKA_ERRORS)}"
    yield from _methods("Clock", "broker.clock", BrokerClock)
    yield "\n## Schedules: `given_schedule(kinds=[...])`\n"
    yield f"{_paragraphs(Disturbance)[1]}\n"


def _words(name: str, words: Iterable[str]) -> str:
    return f"`{name}`: {', '.join(f'`{word}`' for word in words)}."


def _kinds_with(field: str) -> list[str]:
    """What has a field: kinds of things, and events."""
    kinds = [kind for kind, names in STATE_FIELDS.items() if field in names or field in occurrences.EVERYWHERE]
    return [*kinds, "event"] if any(field == each.name for each in occurrences.FIELDS) else kinds


def _field_row(field: Field) -> tuple[str, ...]:
    name = f"~{field.name}" if field.kind == "flag" else field.name
    example = f', `{field.name}("{field.argument}")`' if field.argument else ""
    return (f"`{name}`{example}", ", ".join(_kinds_with(field.name)), field.about or sentence(KIND_WORDS[field.kind]))


def _methods(title: str, of: str, cls: type) -> Iterator[str]:
    yield f"\n## {title}: `{of}`\n"
    yield f"{_paragraphs(cls)[1]}\n"
    rows = [
        (f"`{of}.{name}{_call(member)}`".replace("''", '""'), _paragraphs(member)[0])
        for name, member in vars(cls).items()
        if not name.startswith("_") and _doc(member)
    ]
    yield from _table(("Call", ""), rows)


def _call(member: object) -> str:
    if isinstance(member, property):
        return ""
    assert callable(member)
    signature = inspect.signature(member)
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()][1:]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def _doc(member: object) -> str:
    return inspect.getdoc(member) or ""


def _paragraphs(member: object) -> list[str]:
    return [" ".join(each.split()) for each in _doc(member).split("\n\n")]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
