"""Settings and arguments are judged by their annotations before anything happens: types, ranges and words."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, ClassVar, ParamSpec, TypeVar, get_type_hints

import msgspec

from broker_core.errors import BrokerError, ConfigError, ErrorCode
from broker_core.kinds import WHOLE, Kind, Range, kind_of
from broker_core.limits import MAX_TTL_MS, MAX_WAIT_MS

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

Positive = Annotated[int, Range(1)]
NotNegative = Annotated[int, Range(0)]
Whole = Annotated[int, WHOLE]
PositiveNumber = Annotated[float, Range(0, above=True)]
# Times that the broker keeps are a week long at most; those of a client a century, so that nanoseconds fit 64 bits.
WaitMs = Annotated[int, Range(1, MAX_WAIT_MS, told="a week")]
WaitMsNumber = Annotated[float, Range(0, MAX_WAIT_MS, told="a week")]
WaitMsAboveZero = Annotated[float, Range(0, MAX_WAIT_MS, above=True, told="a week")]
TimeMs = Annotated[int, Range(1, MAX_TTL_MS, told="a century")]
TimeMsOrZero = Annotated[int, Range(0, MAX_TTL_MS, told="a century")]
TimeMsNumber = Annotated[float, Range(0, MAX_TTL_MS, told="a century")]
TimeMsAboveZero = Annotated[float, Range(0, MAX_TTL_MS, above=True, told="a century")]
TimeS = Annotated[float, Range(0, MAX_TTL_MS / 1_000, told="a century")]


class Settings(msgspec.Struct, frozen=True):
    """What is made is valid. Raises INVALID_CONFIG. Each number of a subclass has its `Range` in its annotation."""

    _code: ClassVar[ErrorCode] = ErrorCode.INVALID_CONFIG

    def __post_init__(self) -> None:
        for name, kind in _fields(type(self)):
            value = getattr(self, name)
            if not kind.accepts(value):
                told = kind.wrong(name, value)
                raise ConfigError(told) if self._code is ErrorCode.INVALID_CONFIG else BrokerError(self._code, told)


class Question(Settings, frozen=True):
    """Settings of one call. Raises INVALID_REQUEST."""

    _code: ClassVar[ErrorCode] = ErrorCode.INVALID_REQUEST


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, with its arguments judged by their annotations: raises INVALID_REQUEST, before it is called."""
    kinds = functools.cache(lambda: _parameters(function))

    @functools.wraps(function)
    def judged(*args: P.args, **kwargs: P.kwargs) -> R:
        in_order, by_name = kinds()
        given = list(args)
        for place, (name, kind) in enumerate(in_order[: len(given)]):
            if kind is not None:
                given[place] = _judged(name, kind, given[place])
        for name, value in kwargs.items():
            if (kind := by_name.get(name)) is not None:
                kwargs[name] = _judged(name, kind, value)
        return function(*given, **kwargs)  # type: ignore[arg-type]

    return judged


def checked_class(*, fast: tuple[str, ...] = ()) -> Callable[[type[C]], type[C]]:
    """All public methods and the making of a class are `checked`; `fast` ones look at their arguments themselves."""

    def decorate(cls: type[C]) -> type[C]:
        for name, member in list(vars(cls).items()):
            public = inspect.isfunction(member) and (name == "__init__" or not name.startswith("_"))
            if public and name not in fast and len(inspect.signature(member).parameters) > 1:
                setattr(cls, name, checked(member))
        return cls

    return decorate


def _judged(name: str, kind: Kind, value: Any) -> Any:
    if isinstance(value, Iterator):  # it gives its values once only
        value = tuple(value)
    if not kind.accepts(value):
        raise BrokerError(ErrorCode.INVALID_REQUEST, kind.wrong(name, value))
    return value


@functools.cache
def _fields(settings: type[Settings]) -> tuple[tuple[str, Kind], ...]:
    hints = get_type_hints(settings, include_extras=True)
    return tuple((name, kind_of(hints[name], ranged=True)) for name in settings.__struct_fields__)


def _parameters(function: Callable[..., Any]) -> tuple[list[tuple[str, Kind | None]], dict[str, Kind]]:
    """What is judged of the arguments by place and of those by name."""
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    by_name = {
        each.name: kind_of(hints[each.name])
        for each in parameters
        if each.name in hints and each.kind not in {each.VAR_POSITIONAL, each.VAR_KEYWORD}
    }
    in_order = [(each.name, by_name.get(each.name)) for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    return in_order, by_name
