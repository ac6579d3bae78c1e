"""Options from the fields of requests: their types, ranges, choices, defaults and help; and requests from options.

A field that says what it means is an option. One that is not given is not in the namespace, so that the request's own
default holds; `none` is null.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from app.cli.errors import CommandError
from app.cli.parser import between, or_word
from broker_core.flow.config import FlowConfig
from broker_core.operations.field_info import FieldInfo, field_info
from broker_core.operations.fields import MAX_INT
from broker_core.operations.groups import GroupChanges
from broker_core.operations.topics import LogSettings
from broker_core.queues.config import QueueConfig, RetryPolicy
from broker_core.schemas.rule import SchemaRule

R = TypeVar("R", bound=msgspec.Struct)
NONE = "none"
_METAVARS = {"ms": "MS", "bytes": "BYTES", "s": "PER_S"}
_SIMPLE = {str, int, float, bool}

# Structs in requests whose options stand under a title of their own.
_TITLES: dict[type[msgspec.Struct], str] = {
    QueueConfig: "how messages are delivered",
    RetryPolicy: "how failed deliveries are retried",
    LogSettings: "how messages are kept (none: no limit)",
    GroupChanges: "settings",
    FlowConfig: "how many messages are accepted (none: no limit)",
    SchemaRule: "schema",
}


def add_field(
    parser: argparse._ActionsContainer,
    request: type[msgspec.Struct],
    name: str,
    *,
    needed: bool = True,
    flag: str = "",
    **more: Any,
) -> None:
    """The option of one field, which must be given if the field has no default, unless the request is not `needed`.

    `flag` and `more` go before what the field says.
    """
    kind = field_info(request, name)
    given: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS, "help": _help(kind)}
    given["required"] = kind.required and needed
    if kind.base is bool:  # one that is left out as it is can be set to false, too
        given["action"] = argparse.BooleanOptionalAction if kind.default is None else "store_true"
    elif kind.choices:
        given["choices"] = kind.choices
        if all(word.isupper() for word in kind.choices):
            given["type"] = str.upper
    else:
        given["type"] = value_type(kind)
        last_word = name.rpartition("_")[2]
        numeric = _METAVARS.get(last_word, "N" if kind.base is int else "X")
        given["metavar"] = last_word.upper() if kind.base is str else numeric
    parser.add_argument(flag or _flag(request, name), **{**given, **more})


def add_options(
    parser: argparse.ArgumentParser,
    request: type[msgspec.Struct],
    names: Iterable[str] | None = None,
    *,
    needed: bool = True,
) -> None:
    """The options of all fields that say what they mean, or of `names`; those of a struct in it go under its title."""
    title = _TITLES.get(request)
    into = parser if title is None else parser.add_argument_group(title)
    parts = []
    for name in request.__struct_fields__ if names is None else names:
        kind = field_info(request, name)
        if _is_struct(kind.base):
            parts.append(kind)
        elif kind.about and (kind.choices or kind.base in _SIMPLE):
            add_field(into, request, name, needed=needed)
    for part in parts:
        add_options(parser, part.base, needed=needed and part.required)


def given(
    options: argparse.Namespace, request: type[msgspec.Struct], names: Iterable[str] | None = None
) -> dict[str, Any]:
    """The fields of `request`, or of `names`, that were given; a struct in it has what was given of its own.

    Raises CommandError for such a struct without a field that it needs.
    """
    found = {}
    for name in request.__struct_fields__ if names is None else names:
        base = field_info(request, name).base
        if not _is_struct(base):
            if hasattr(options, name):
                found[name] = getattr(options, name)
        elif part := given(options, base):
            for needed in base.__struct_fields__:
                if field_info(base, needed).required and needed not in part:
                    raise CommandError(f"{_flag(base, next(iter(part)))} needs {_flag(base, needed)}; give both.")
            found[name] = base(**part)
    return found


def built(request: type[R], options: argparse.Namespace, **more: Any) -> R:
    others = [name for name in request.__struct_fields__ if name not in more]
    return request(**given(options, request, others), **more)


def value_type(kind: FieldInfo) -> Callable[[str], Any]:
    if kind.base is str:
        return str
    parse = between(kind.base, kind.least, None if kind.most is None or kind.most >= MAX_INT else kind.most)
    return or_word(NONE, parse) if kind.nullable else parse


def _flag(request: type[msgspec.Struct], name: str) -> str:
    return field_info(request, name).flag or f"--{name.replace('_', '-')}"


def _help(kind: FieldInfo) -> str:
    shown = kind.default
    if "default" in kind.about or not isinstance(shown, str | int | float) or shown in {"", False}:
        return kind.about
    default = f"default: {shown:g}" if isinstance(shown, float) else f"default: {shown}"
    return f"{kind.about[:-1]}; {default})" if kind.about.endswith(")") else f"{kind.about} ({default})"


def _is_struct(base: Any) -> bool:
    return isinstance(base, type) and issubclass(base, msgspec.Struct)
