"""Options from the fields of requests: their types, ranges, choices, defaults and help.

An option that is not given is not in the namespace, so that the request's own default holds; `none` is null.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import Meta, UnsetType

from app.cli.numbers import between, or_word
from broker_core.operations.fields import MAX_INT

NONE = "none"
_METAVARS = {"ms": "MS", "bytes": "BYTES", "s": "PER_S"}


class _Kind(NamedTuple):
    base: Any = str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    nullable: bool = False
    about: str = ""


def _kind(annotation: Any) -> _Kind:
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metas = get_args(annotation)
        found = _kind(inner)
        for meta in metas:
            if isinstance(meta, Meta):
                found = found._replace(
                    least=next((each for each in (meta.ge, meta.gt) if each is not None), found.least),
                    most=found.most if meta.le is None else meta.le,
                    about=(meta.extra or {}).get("help", found.about),
                )
        return found
    if origin is Literal:
        return _Kind(choices=get_args(annotation))
    if origin in {Union, UnionType}:
        inner = [each for each in get_args(annotation) if each not in {NoneType, UnsetType}]
        return _kind(inner[0])._replace(nullable=NoneType in get_args(annotation))
    return _Kind(annotation)


def add_field(
    parser: argparse._ActionsContainer, request: type[msgspec.Struct], name: str, flag: str = "", **more: Any
) -> None:
    """The option of one field: `--field-name`, or `flag`. `more` goes before what the field says."""
    field = next(each for each in msgspec.structs.fields(request) if each.name == name)
    kind = _kind(field.type)
    flag = flag or f"--{name.replace('_', '-')}"
    told = kind.about
    if "default" not in told and isinstance(field.default, str | int | float) and field.default not in {"", False}:
        told = (
            f"{told} (default: {field.default:g})"
            if isinstance(field.default, float)
            else (f"{told} (default: {field.default})")
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
            parse = between(kind.base, kind.least, None if kind.most == MAX_INT else kind.most)
        given["type"] = or_word(NONE, parse) if kind.nullable and kind.base is not str else parse
        numeric = _METAVARS.get(name.rpartition("_")[2], "N" if kind.base is int else "X")
        given["metavar"] = "NAME" if kind.base is str else numeric
    if field.required:
        del given["default"]
        given["required"] = True
    parser.add_argument(flag, **{**given, **more})


def add_group(
    parser: argparse.ArgumentParser, request: type[msgspec.Struct], title: str, flags: Mapping[str, str] | None = None
) -> None:
    """The options of all fields that say what they mean, under `title`; `flags` are those not called as their field."""
    group = parser.add_argument_group(title)
    for field in msgspec.structs.fields(request):
        if _kind(field.type).about:
            add_field(group, request, field.name, (flags or {}).get(field.name, ""))


def given(options: argparse.Namespace, request: type[msgspec.Struct], names: Iterable[str] = ()) -> dict[str, Any]:
    """The fields of `request` that were given; of `names` alone where there are some."""
    wanted = tuple(names) or request.__struct_fields__
    return {name: getattr(options, name) for name in wanted if hasattr(options, name)}
