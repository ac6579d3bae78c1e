"""A scenario as YAML by hand would be: without defaults, in short lines, in the usual order.

Text is written in the first of several ways that reads back as the same: no rule of YAML is known here twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

import msgspec
import yaml

from broker_core.errors import ScenarioError
from broker_core.simulation.scenario import Scenario, parse_scenario
from broker_core.simulation.specs import Scheduled
from broker_core.simulation.strict_yaml import Document, YamlError

WIDTH = 120
_FLOW_WIDTH = 92  # of what stands in braces on one line: beyond that it is easier to read as a list
_ALWAYS = ("seed",)  # said although it may be what it is without
_BY_HAND = "# What was done by hand, in the order in which it was done."


def scenario_text(scenario: Scenario) -> str:
    lines = [_title(scenario.title)]
    for key, value in _plain(scenario, always=_ALWAYS).items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines += ["", f"{key}:", *_entries(value, 2)]
        elif isinstance(value, list) and value:
            lines += [f"{key}:", *(line for each in value for line in _value("  - ", each, 4))]
        else:
            lines += _value(f"{key}: ", value, 2)
    return "\n".join(lines) + "\n"


def text_with(text: str, seed: int, done: Sequence[Scheduled]) -> str:
    """The scenario of `text` with another seed, and with `done` at the end of its schedule.

    The author's text is kept as it is, with its comments, where possible.
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
    return f"# {words}{', with what was done by hand' if by_hand else ''}".rstrip()


def _is(text: str, wanted: Scenario) -> bool:
    try:
        return parse_scenario(text) == wanted
    except ScenarioError:
        return False


# -- into a text that is there


def _spliced(text: str, seed: int, done: Sequence[Scheduled]) -> str | None:
    """None where the text is not written line by line."""
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
    return [f"{' ' * indent}{_BY_HAND}", *_entries(map(_plain, done), indent)]


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


def _entries(values: Iterable[dict[str, Any]], indent: int) -> list[str]:
    """A list, each of whose entries has a line for each key."""
    lines = []
    for value in values:
        first, *rest = (line for key, each in value.items() for line in _keyed(key, each, indent + 2))
        lines += [f"{' ' * indent}- {first.lstrip()}", *rest]
    return lines


def _keyed(key: str, value: Any, indent: int) -> list[str]:
    return _value(f"{' ' * indent}{_word(key, _KEY)}: ", value, indent + 2)


def _value(start: str, value: Any, indent: int) -> list[str]:
    """`value` after `start`, on the same line where it is short; what goes on below is indented by `indent`."""
    if isinstance(value, str):
        return _long(start, value, indent)
    line = start + _flow(value)
    if not isinstance(value, list | dict) or not value or len(line) <= _FLOW_WIDTH:
        return [line]
    if isinstance(value, dict):
        below = [line for key, each in value.items() for line in _keyed(key, each, indent)]
    elif not any(isinstance(each, str | list | dict) for each in value):
        first, *rest = _wrapped(_flow(value), _FLOW_WIDTH - indent)
        return [start + first, *(f"{' ' * indent}{line}" for line in rest)]
    else:
        below = [line for each in value for line in _value(f"{' ' * indent}- ", each, indent + 2)]
    if start.endswith("- "):
        return [start + below[0].lstrip(), *below[1:]]
    return [start.rstrip(), *below]


def _flow(value: Any) -> str:
    match value:
        case dict():
            return f"{{{', '.join(f'{_word(key, _FLOW_KEY)}: {_flow(each)}' for key, each in value.items())}}}"
        case list():
            return f"[{', '.join(map(_flow, value))}]"
        case str():
            return _word(value, _IN_FLOW)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case _:
            return repr(value)


# Where a word may stand: a text with it, and what that must read back as. {} is the word.
_Use = tuple[str, Any]
_BLOCK: _Use = ("- {0}\n- k: {0}\n", lambda word: [word, {"k": word}])
_IN_FLOW: _Use = ("- [{0}, {0}]\n- {{k: {0}}}\n", lambda word: [[word, word], {"k": word}])
_KEY: _Use = ("- {0}: 1\n", lambda word: [{word: 1}])
_FLOW_KEY: _Use = ("- {{{0}: 1}}\n", lambda word: [{word: 1}])


def _word(text: str, use: _Use) -> str:
    """`text` as it is, or in quotes where it would be read as something else."""
    template, wanted = use
    ways = (text, "'{}'".format(text.replace("'", "''")))
    return next((way for way in ways if _reads(template.format(way), wanted(text))), _escaped(text))


def _escaped(text: str) -> str:
    dumped: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=float("inf"))
    return dumped.rstrip("\n")


def _long(start: str, text: str, indent: int) -> list[str]:
    """A text on the line of `start`, or below it where it is long or has lines of its own."""
    if "\n" not in text:
        line = start + _word(text, _BLOCK)
        if len(line) <= WIDTH:
            return [line]
    *paragraphs, rest = text.split("\n")
    sign = "-" if rest else ""
    paragraphs += [rest] if rest else []
    folded = [line for each in paragraphs for line in ("", *_wrapped(each, WIDTH - indent))][1:]
    ways = [(">", folded), ("|", paragraphs)]
    if len(paragraphs) > 1 and max(map(len, paragraphs)) <= WIDTH - indent:
        ways.reverse()
    for way, body in ways:
        # With a key behind it, for the end of a file is more than the end of a text.
        inner = "\n".join(f"  {line}".rstrip() for line in body)
        if _reads(f"k: {way}{sign}\n{inner}\nz: 1\n", {"k": text, "z": 1}):
            return [f"{start}{way}{sign}", *(f"{' ' * indent}{line}".rstrip() for line in body)]
    return [start + _word(text, _BLOCK)]


def _wrapped(text: str, width: int) -> list[str]:
    """Lines that a folded text makes one of again: broken at single spaces alone."""
    lines = [""]
    for word in re.split(r"(?<=\S) (?=\S)", text):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _reads(snippet: str, wanted: Any) -> bool:
    """Whether it is YAML for that value; text that looks like a number is not one."""
    try:
        found = Document(snippet).value
    except YamlError:
        return False
    return bool(found == wanted) and repr(found) == repr(wanted)
