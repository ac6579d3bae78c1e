"""Validation of settings and arguments by their annotations: types, ranges and literals."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, ClassVar, Literal, ParamSpec, TypeVar, get_type_hints

import msgspec
from msgspec import Meta

from broker_core.errors import BrokerError, ConfigError, ErrorCode
from broker_core.kinds import MOST, WHOLE, Kind, kind_of
from broker_core.limits import MAX_TTL_MS, MAX_WAIT_MS

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")


def about(text: str, flag: str = "") -> Meta:
    """The meaning of a field in one line (its help on the command line and in forms), and its command-line option if
    that differs from the field's name."""
    return Meta(extra={"help": text, "flag": flag})


WEEK, _CENTURY = {"meaning": "a week"}, {"meaning": "a century"}
Positive = Annotated[int, Meta(ge=1, le=MOST)]
Port = Annotated[int, Meta(ge=0, le=65_535)]
Count = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]  # a maximum number of results
NotNegative = Annotated[int, Meta(ge=0, le=MOST)]
Long = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]  # Kafka's, where it is no limit
PositiveLong = Annotated[int, Meta(ge=1, le=(1 << 63) - 1)]
Whole = Annotated[int, WHOLE]
PositiveNumber = Annotated[float, Meta(gt=0, le=MOST)]
NotNegativeNumber = Annotated[float, Meta(ge=0, le=MOST)]
AtLeastOne = Annotated[float, Meta(ge=1, le=MOST)]
Share = Annotated[float, Meta(ge=0, le=1)]
LimitPolicy = Literal["block", "reject", "drop_newest", "drop_oldest", "priority_evict"]  # what happens at a limit
# Times in the broker are limited to a week, times of clients to a century, so that nanoseconds fit into 64 bits.
WaitMs = Annotated[int, Meta(ge=1, le=MAX_WAIT_MS, extra=WEEK)]
WaitMsNumber = Annotated[float, Meta(ge=0, le=MAX_WAIT_MS, extra=WEEK)]
WaitMsAboveZero = Annotated[float, Meta(gt=0, le=MAX_WAIT_MS, extra=WEEK)]
TimeMs = Annotated[int, Meta(ge=1, le=MAX_TTL_MS, extra=_CENTURY)]
TimeMsOrZero = Annotated[int, Meta(ge=0, le=MAX_TTL_MS, extra=_CENTURY)]
TimeMsNumber = Annotated[float, Meta(ge=0, le=MAX_TTL_MS, extra=_CENTURY)]
TimeMsAboveZero = Annotated[float, Meta(gt=0, le=MAX_TTL_MS, extra=_CENTURY)]
TimeS = Annotated[float, Meta(ge=0, le=MAX_TTL_MS / 1_000, extra=_CENTURY)]

_ANYTHING = kind_of(Any)
TIME = kind_of(TimeS)
TIMEOUT = kind_of(TimeS | None)


class Settings(msgspec.Struct, frozen=True):
    """A struct that is validated when created. Raises INVALID_CONFIG. Annotations of numbers need a range."""

    _code: ClassVar[ErrorCode] = ErrorCode.INVALID_CONFIG

    def __post_init__(self) -> None:
        for name, kind in _fields(type(self)):
            value = getattr(self, name)
            if not kind.accepts(value):
                why = kind.wrong(name, value)
                raise ConfigError(why) if self._code is ErrorCode.INVALID_CONFIG else BrokerError(self._code, why)


class CallArguments(Settings, frozen=True):
    """Arguments of a call as a struct. Raises INVALID_REQUEST when created with invalid values."""

    _code: ClassVar[ErrorCode] = ErrorCode.INVALID_REQUEST


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate `function` to validate its arguments by their annotations.

    It raises INVALID_REQUEST, or INVALID_CONFIG for `__init__`.
    """
    refusal = ConfigError if function.__name__ == "__init__" else _request_error
    kinds: list[Kind] = []  # of the positional arguments
    by_name: dict[str, Kind] = {}
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not kinds:  # the first call, when the module is complete; another thread may be at it, too
            by_name.update(_parameters(function))
            kinds[:] = [by_name.get(name, _ANYTHING) for name in names]
        for value, kind in zip(args, kinds, strict=False):
            if not kind.accepts(value):
                given = [validated(*each, refusal) for each in zip(names, kinds, args, strict=False)]
                return call(*given, **kwargs)
        for name, value in kwargs.items():
            if name in by_name:
                kwargs[name] = validated(name, by_name[name], value, refusal)
        return function(*args, **kwargs)

    return call


def checked_class(*, fast: tuple[str, ...] = ()) -> Callable[[type[C]], type[C]]:
    """Decorate a class to make `__init__` and all public methods `checked`, except those in `fast`."""

    def decorate(cls: type[C]) -> type[C]:
        for name, member in list(vars(cls).items()):
            public = inspect.isfunction(member) and (name == "__init__" or not name.startswith("_"))
            if public and name not in fast and len(inspect.signature(member).parameters) > 1:
                setattr(cls, name, checked(member))
        return cls

    return decorate


def _request_error(why: str) -> BrokerError:
    return BrokerError(ErrorCode.INVALID_REQUEST, why)


def validated(name: str, kind: Kind, value: Any, refusal: Callable[[str], BrokerError] = _request_error) -> Any:
    """Return `value`, an iterator as a tuple. Raises `refusal` if `kind` does not accept it."""
    if kind.accepts(value):
        return value
    if isinstance(value, Iterator):
        value = tuple(value)
        if kind.accepts(value):
            return value
    raise refusal(kind.wrong(name, value))


@functools.cache
def _fields(settings: type[Settings]) -> tuple[tuple[str, Kind], ...]:
    hints = get_type_hints(settings, include_extras=True)
    return tuple((name, kind_of(hints[name], ranged=True)) for name in settings.__struct_fields__)


def _parameters(function: Callable[..., Any]) -> dict[str, Kind]:
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    judgeable = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return {
        each.name: kind_of(hints[each.name]) for each in parameters if each.name in hints and each.kind in judgeable
    }
