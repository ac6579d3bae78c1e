"""Options from the fields of requests: their types, ranges, choices, defaults and help.

An option that is not given is not in the namespace, so that the request's own default holds; `none` is null.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from app.cli.numbers import between, or_word
from broker_core.operations.field_info import field_info
from broker_core.operations.fields import MAX_INT

NONE = "none"
_METAVARS = {"ms": "MS", "bytes": "BYTES", "s": "PER_S"}


def add_field(
    parser: argparse._ActionsContainer, request: type[msgspec.Struct], name: str, flag: str = "", **more: Any
) -> None:
    """The option of one field: `--field-name`, or `flag`. `more` goes before what the field says."""
    kind = field_info(request, name)
    flag = flag or f"--{name.replace('_', '-')}"
    told = kind.about
    if "default" not in told and isinstance(kind.default, str | int | float) and kind.default not in {"", False}:
        told = (
            f"{told} (default: {kind.default:g})"
            if isinstance(kind.default, float)
            else (f"{told} (default: {kind.default})")
        )
    given: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS, "help": told}
    if kind.base is bool:
        parser.add_argument(flag, action="store_true", **{**given, **more})
        return
    if kind.choices:
        given["choices"] = kind.choices
    else:
        parse: Callable[[str], Any] = str
        if kind.base in {int, float}:
            parse = between(kind.base, kind.least, None if kind.most is None or kind.most >= MAX_INT else kind.most)
        given["type"] = or_word(NONE, parse) if kind.nullable and kind.base is not str else parse
        numeric = _METAVARS.get(name.rpartition("_")[2], "N" if kind.base is int else "X")
        given["metavar"] = "NAME" if kind.base is str else numeric
    if kind.required:
        del given["default"]
        given["required"] = True
    parser.add_argument(flag, **{**given, **more})


def add_group(
    parser: argparse.ArgumentParser, request: type[msgspec.Struct], title: str, flags: Mapping[str, str] | None = None
) -> None:
    """The options of all fields that say what they mean, under `title`; `flags` are those not called as their field."""
    group = parser.add_argument_group(title)
    for name in request.__struct_fields__:
        if field_info(request, name).about:
            add_field(group, request, name, (flags or {}).get(name, ""))


def given(options: argparse.Namespace, request: type[msgspec.Struct], names: Iterable[str] = ()) -> dict[str, Any]:
    """The fields of `request` that were given; of `names` alone if there are some."""
    wanted = tuple(names) or request.__struct_fields__
    return {name: getattr(options, name) for name in wanted if hasattr(options, name)}
