"""Allowed values at a place in a request, a scenario or an action, derived from types."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec


def members(kind: Any) -> Iterator[Any]:
    """The kinds that a union is made of, without their limits; else itself."""
    if get_origin(kind) is Annotated:
        yield from members(get_args(kind)[0])
    elif get_origin(kind) in {Union, types.UnionType}:
        for member in get_args(kind):
            yield from members(member)
    else:
        yield kind


def structs(kind: Any, value: Any) -> list[type[msgspec.Struct]]:
    """The structs that `value` may be meant for: those whose tag it has, if it has any."""
    found = [each for each in members(kind) if isinstance(each, type) and issubclass(each, msgspec.Struct)]
    if not isinstance(value, Mapping):
        return found
    tagged = [each for each in found if tag_field(each) and value.get(tag_field(each)) == tag(each)]
    return tagged or found


_fields = cache(msgspec.structs.fields)  # it evaluates all annotations each time


def by_key(found: list[type[msgspec.Struct]]) -> dict[str, Any]:
    """The kind of each field that one of them has."""
    kinds: dict[str, list[Any]] = {}
    for struct in found:
        if tag_field(struct):
            kinds.setdefault(tag_field(struct), []).append(Literal[tag(struct)])
        for field in _fields(struct):
            kinds.setdefault(field.encode_name, []).append(field.type)
    return {name: reduce(or_, each) for name, each in kinds.items()}


def required(found: list[type[msgspec.Struct]]) -> set[str]:
    needs = [
        {field.encode_name for field in _fields(struct) if field.required}
        | ({tag_field(struct)} if tag_field(struct) else set())
        for struct in found
    ]
    return set.intersection(*needs) if needs else set()


def tag_field(struct: type[msgspec.Struct]) -> str:
    """The key that names the struct; "" if none does."""
    return struct.__struct_config__.tag_field or ""


def tag(struct: type[msgspec.Struct]) -> Any:
    return struct.__struct_config__.tag


def item_kind(kind: Any, number: int) -> Any:
    """The kind of an item of an array, by its number. Behind its end, a tuple repeats its last one."""
    for each in members(kind):
        if get_origin(each) in {tuple, list}:
            inner = get_args(each)
            return inner[0] if len(inner) < 2 or inner[1] is Ellipsis else inner[min(number, len(inner) - 1)]
    return Any


def value_kind(kind: Any) -> Any:
    """The kind of the values if keys are arbitrary."""
    return next((get_args(each)[1] for each in members(kind) if get_origin(each) is dict), Any)


def allowed_words(kind: Any) -> Iterator[str]:
    for each in members(kind):
        if get_origin(each) is Literal:
            yield from map(str, get_args(each))
        elif isinstance(each, type) and issubclass(each, Enum):
            yield from (str(one.value) for one in each)


def words_at(kind: Any, steps: str) -> list[str]:
    """The words, or else the names of fields, that are allowed where `steps` lead to, as msgspec writes them:
    ".flow.policy", ".topics[...]".
    """
    for step in re.findall(r"\.[\w-]+|\[[^\]]*\]", steps):
        if step[0] == "[":
            inner = value_kind(kind)
            kind = item_kind(kind, 0) if inner is Any else inner
        else:
            kind = by_key(structs(kind, None)).get(step[1:], Any)
    return list(dict.fromkeys(allowed_words(kind))) or list(by_key(structs(kind, None)))
