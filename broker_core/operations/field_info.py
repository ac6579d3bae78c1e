"""A field of a request as a form or a command line offers it: kind, range, words, default and help."""

from __future__ import annotations

from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import Meta, UnsetType


class FieldInfo(NamedTuple):
    """`base` is str, int, float, bool or a struct. `above` says that `least` itself is not allowed; `default` is None
    if there is none; `about` is a line of help and `flag` its option, "" for none.
    """

    base: Any = str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: bool = False
    nullable: bool = False
    about: str = ""
    flag: str = ""
    default: Any = None
    required: bool = False


def field_info(request: type[msgspec.Struct], name: str) -> FieldInfo:
    return _infos(request)[name]


@cache
def _infos(request: type[msgspec.Struct]) -> dict[str, FieldInfo]:
    """All fields: msgspec evaluates the annotations of all anew for each question."""
    found = {}
    for field in msgspec.structs.fields(request):
        given = field.default is not msgspec.NODEFAULT and field.default is not msgspec.UNSET
        default = field.default if given else None
        found[field.name] = _of(field.type)._replace(default=default, required=field.required)
    return found


def _of(annotation: Any) -> FieldInfo:
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metas = get_args(annotation)
        found = _of(inner)
        for meta in metas:
            if isinstance(meta, Meta):
                found = found._replace(
                    least=next((each for each in (meta.ge, meta.gt) if each is not None), found.least),
                    above=meta.gt is not None or found.above,
                    most=found.most if meta.le is None else meta.le,
                    about=(meta.extra or {}).get("help", found.about),
                    flag=(meta.extra or {}).get("flag", found.flag),
                )
        return found
    if origin is Literal:
        return FieldInfo(choices=get_args(annotation))
    if origin in {Union, UnionType}:
        inner = [each for each in get_args(annotation) if each not in {NoneType, UnsetType}]
        found = _of(inner[0])
        return found._replace(nullable=found.nullable or NoneType in get_args(annotation))
    return FieldInfo(annotation)
