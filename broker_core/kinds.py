"""Checks of values against annotations, with descriptions for error messages. NaN is in no range."""

from __future__ import annotations

import difflib
import enum
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec

MOST = 1 << 62  # the default maximum: the sum of two fits into 64 bits
_BIG: dict[float, str] = {MOST: "2^62", -(1 << 63): "-2^63", (1 << 63) - 1: "2^63 - 1"}


WHOLE = msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)


class Kind(NamedTuple):
    """The values that an annotation allows.

    `words` describes them, `accepts` checks one, `known` are the literals for "did you mean".
    """

    words: str
    accepts: Callable[[Any], bool]
    known: tuple[str, ...] = ()

    def wrong(self, name: str, value: object) -> str:
        near = difflib.get_close_matches(value, self.known, n=1) if isinstance(value, str) else []
        return f"{name} {shown(value)} must be {self.words}{f' (did you mean {near[0]}?)' if near else ''}"


_ANY_NUMBER = msgspec.Meta(ge=-MOST)
_NO_LIST = (str, bytes, Iterator)
_MANY: dict[Any, tuple[Any, str]] = {
    AbstractSet: (AbstractSet, "a set"),
    list: (list, "a list"),
    tuple: (tuple, "a tuple"),
}
_CALLABLE: tuple[Any, ...] = (Callable,)
_NAMED: dict[Any, str] = {bool: "True or False", bytes: "bytes", types.NoneType: "None"}


def kind_of(annotation: Any, *, ranged: bool = False) -> Kind:
    """The values that `annotation` allows. With `ranged`, a number without a range raises TypeError."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        metas = (each for each in inner[1:] if isinstance(each, msgspec.Meta))
        limits = next((each for each in metas if each.ge is not None or each.gt is not None), None)
        return kind_of(inner[0], ranged=ranged) if limits is None else _number(inner[0], limits)
    if annotation in (int, float):
        if ranged:
            raise TypeError(f"a setting of type {annotation.__name__} needs a range")
        return _number(annotation, None)
    if annotation is str:
        return Kind("text", _is_text)
    if origin is Literal:
        return _one_of({each: each for each in inner})
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _one_of({each: f"{annotation.__name__}.{each.name}" for each in annotation})
    if origin in {Union, types.UnionType}:
        return _either([kind_of(each, ranged=ranged) for each in inner])
    if origin is tuple and inner[-1] is not Ellipsis:
        return _tuple_of([kind_of(each, ranged=ranged) for each in inner])
    if origin is not None and isinstance(origin, type):
        return _container(origin, [kind_of(each, ranged=ranged) for each in inner if each is not Ellipsis])
    if isinstance(annotation, type) and annotation not in (object, Any) and _supports_isinstance(annotation):
        name = annotation.__name__
        told = _NAMED.get(annotation) or f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
        return Kind(told, lambda value: isinstance(value, annotation))
    return Kind("anything", lambda _value: True)


def shown(value: object) -> str:
    """`repr(value)` for a message: at most 60 characters, and safe where `__repr__` raises."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 60 else f"{text[:60]}..."


def _number(kind: Any, limits: msgspec.Meta | None) -> Kind:
    noun = "a whole number" if kind is int else "a number"
    held = limits or (WHOLE if kind is int else _ANY_NUMBER)
    types_allowed = int if kind is int else (int, float)
    above, least = held.gt, held.ge if held.gt is None else held.gt
    most = MOST if held.le is None else held.le
    assert least is not None

    def accepts(value: Any) -> bool:
        if not isinstance(value, types_allowed) or isinstance(value, bool):
            return False
        return (least < value if above is not None else least <= value) and value <= most

    if limits is None:
        return Kind(noun, accepts)
    low, high = _BIG.get(least, str(least)), _BIG.get(most, str(most))
    words = f"above {low} and at most {high}" if above is not None else f"from {low} to {high}"
    meaning = (limits.extra or {}).get("meaning", "")
    return Kind(f"{noun} {words}, {meaning}" if meaning else f"{noun} {words}", accepts)


def _is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _one_of(values: Mapping[Any, Any]) -> Kind:
    """One of `values`, of the same type: 1 is not True."""
    words = [str(word) for word in values.values()]
    types_allowed = {type(each) for each in values}

    def accepts(value: Any) -> bool:
        return type(value) in types_allowed and value in values

    return Kind(f"one of {', '.join(words)}" if len(words) > 1 else words[0], accepts, tuple(words))


def _either(kinds: list[Kind]) -> Kind:
    known = tuple(word for kind in kinds for word in kind.known)
    return Kind(", or ".join(kind.words for kind in kinds), lambda value: any(k.accepts(value) for k in kinds), known)


def _tuple_of(kinds: list[Kind]) -> Kind:
    def accepts(value: Any) -> bool:
        fits = isinstance(value, tuple | list) and len(value) == len(kinds)
        return fits and all(kind.accepts(each) for kind, each in zip(kinds, value, strict=True))

    return Kind(f"a row of {', '.join(kind.words for kind in kinds)}", accepts)


def _container(origin: type, inner: list[Kind]) -> Kind:
    if issubclass(origin, Mapping):
        keys, values = inner
        return Kind(
            f"a mapping from {keys.words} to {values.words}",
            lambda found: (
                isinstance(found, Mapping)
                and all(keys.accepts(key) and values.accepts(value) for key, value in found.items())
            ),
        )
    if origin in _CALLABLE:
        return Kind("a function", callable)
    if not issubclass(origin, Iterable) or not inner:
        return kind_of(origin)
    allowed, words = _MANY.get(origin, (Iterable, "a list"))
    each = inner[0]

    def accepts(value: Any) -> bool:
        """An iterator is refused, because checking it would consume it."""
        return isinstance(value, allowed) and not isinstance(value, _NO_LIST) and all(map(each.accepts, value))

    return Kind(f"{words} of {each.words}", accepts)


def _supports_isinstance(kind: type) -> bool:
    """Whether `isinstance` supports `kind`, which must be runtime_checkable if it is a protocol."""
    return not getattr(kind, "_is_protocol", False) or getattr(kind, "_is_runtime_protocol", False)
