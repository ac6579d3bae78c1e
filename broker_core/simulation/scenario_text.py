"""A scenario as YAML by hand would be: without defaults, in short lines, in the usual order."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

import msgspec
import yaml

from broker_core.errors import ScenarioError
from broker_core.simulation.scenario import Scenario, parse_scenario
from broker_core.simulation.specs import Scheduled
from broker_core.simulation.strict_yaml import NUMBER

WIDTH = 92  # of what stands in braces on one line: beyond that it is easier to read as a list
_OTHER_BREAKS = frozenset("\r\x85\u2028\u2029")  # lines end there in YAML, too: they are escaped
_ALWAYS = ("seed",)  # written even if it has its default value
_BY_HAND = "# Manual actions, in order."


def scenario_text(scenario: Scenario) -> str:
    lines = [_title(scenario.title)]
    for key, value in _plain(scenario, always=_ALWAYS).items():
        if isinstance(value, list) and value:
            lines += [""] if isinstance(value[0], dict) else []
            lines += [f"{key}:", *_indented(_block(value), 2)]
        else:
            lines += _block({key: value})
    return "\n".join(lines) + "\n"


def text_with(text: str, seed: int, done: Sequence[Scheduled]) -> str:
    """The scenario of `text` with another seed, and with `done` at the end of its schedule.

    The author's text is kept as it is, with its comments, if possible.
    """
    before = parse_scenario(text)
    wanted = msgspec.structs.replace(before, seed=seed, schedule=(*before.schedule, *done))
    title = _title(before.title, by_hand=bool(done))
    found = _spliced(text, seed, done)
    if found is None or not _is(found, wanted):
        found = scenario_text(wanted).removeprefix(f"{_title(before.title)}\n")
    return found if found.startswith(f"{title}\n") else f"{title}\n{found}"


def _title(title: str, *, by_hand: bool = False) -> str:
    words = "".join(sign for sign in " ".join(title.split()) if sign.isprintable())
    return f"# {words}{', with manual actions' if by_hand else ''}".rstrip()


def _is(text: str, wanted: Scenario) -> bool:
    try:
        return parse_scenario(text) == wanted
    except ScenarioError:
        return False


# -- into a text that is there


def _spliced(text: str, seed: int, done: Sequence[Scheduled]) -> str | None:
    """None if the text is not written line by line."""
    whole = yaml.compose(text, Loader=yaml.CSafeLoader)
    if not isinstance(whole, yaml.MappingNode) or whole.flow_style:
        return None
    nodes = {key.value: (key, value) for key, value in whole.value}
    lines = text.splitlines()
    edits: list[tuple[int, int, list[str]]] = []  # from this line on, so many are these
    if "seed" in nodes:
        start, end = nodes["seed"][1].start_mark, nodes["seed"][1].end_mark
        line = lines[start.line]
        edits.append((start.line, 1, [f"{line[: start.column]}{seed}{line[end.column :]}"]))
    else:
        edits.append((nodes["until_s"][0].start_mark.line, 0, [f"seed: {seed}"]))
    if done and "schedule" in nodes:
        entries = nodes["schedule"][1]
        if not isinstance(entries, yaml.SequenceNode) or entries.flow_style:
            return None
        last = entries.end_mark.line + (entries.end_mark.column > 0)
        while not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#"):
            last -= 1
        edits.append((last, 0, _done(done, entries.start_mark.column)))
    elif done:
        edits.append((len(lines), 0, ["schedule:", *_done(done, 2)]))
    for at, removed, new in sorted(edits, reverse=True):
        lines[at : at + removed] = new
    return "\n".join(lines) + "\n"


def _done(done: Iterable[Scheduled], indent: int) -> list[str]:
    return _indented([_BY_HAND, *_block([_plain(each) for each in done])], indent)


# -- as plain values, in the order of the scenarios that are there


def _plain(value: Any, always: Sequence[str] = ()) -> Any:
    match value:
        case msgspec.Struct():
            config, own = value.__struct_config__, type(value).__annotations__
            found = {config.tag_field: config.tag} if config.tag_field else {}
            # What tells a kind from its kin is said first.
            for field in sorted(msgspec.structs.fields(value), key=lambda field: field.name not in own):
                inner = getattr(value, field.name)
                if inner != _default(field) or field.name in always:
                    found[field.encode_name] = _plain(inner)
            return found
        case Enum():
            return value.value
        case tuple() | list():
            return [_plain(each) for each in value]
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case float() if value.is_integer() and abs(value) < 1e15:
            return int(value)
        case _:
            return value


def _default(field: msgspec.structs.FieldInfo) -> Any:
    factory = field.default_factory
    return field.default if factory is msgspec.NODEFAULT else factory()


# -- as lines


class _Dumper(yaml.SafeDumper):
    """Writes short values in braces on one line, and quotes text that would be read as a number or keyword."""

    def __init__(self) -> None:
        self.written = io.StringIO()
        super().__init__(self.written, width=WIDTH, allow_unicode=True, sort_keys=False)

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        return super().represent_mapping(tag, mapping, _is_short(mapping))

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        numbers = not any(isinstance(each, str | list | dict) for each in sequence)
        return super().represent_sequence(tag, sequence, numbers or _is_short(sequence))

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = None
        if not _OTHER_BREAKS.isdisjoint(text):
            style = '"'
        elif "\n" in text and max(map(len, text.split("\n"))) <= WIDTH:
            style = "|"
        elif text == f"{' '.join(text.split())}\n":  # one paragraph
            style = ">"
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", NUMBER, None)


def _is_short(value: Any) -> bool:
    return len(msgspec.json.encode(value)) <= WIDTH


def _block(value: Any) -> list[str]:
    """The lines of a mapping, or of a list of mappings, each of which has a line for each key."""
    dumper = _Dumper()
    node = dumper.represent_data(value)
    for each in (node, *node.value) if isinstance(value, list) else (node,):
        if isinstance(each, yaml.CollectionNode):
            each.flow_style = False
    dumper.open()
    dumper.serialize(node)
    return dumper.written.getvalue().removesuffix("\n").split("\n")


def _indented(lines: Iterable[str], indent: int) -> list[str]:
    return [f"{' ' * indent}{line}".rstrip(" ") for line in lines]
