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
Port = Annotated[int, Range(0, 65_535)]
Count = Annotated[int, Range(0, (1 << 31) - 1)]  # of what is asked for at once
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

_ANYTHING = kind_of(Any)
TIME = kind_of(TimeS)
TIMEOUT = kind_of(TimeS | None)


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
    """`function`, with its arguments judged by their annotations before it is called.

    Raises INVALID_REQUEST; where something is made, INVALID_CONFIG.
    """
    refusal = ConfigError if function.__name__ == "__init__" else _request_error
    kinds: list[Kind] = []  # of the arguments by place
    by_name: dict[str, Kind] = {}
    names = list(inspect.signature(function).parameters)

    def learn() -> None:
        """When it is called first: its module may not be complete before."""
        by_name.update(_parameters(function))
        kinds.extend(by_name.get(name, _ANYTHING) for name in names)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not kinds:
            learn()
        for value, kind in zip(args, kinds, strict=False):
            if not kind.accepts(value):
                given = [judged(*each, refusal) for each in zip(names, kinds, args, strict=False)]
                return call(*given, **kwargs)
        for name, value in kwargs.items():
            if name in by_name:
                kwargs[name] = judged(name, by_name[name], value, refusal)
        return function(*args, **kwargs)

    return call


def checked_class(*, fast: tuple[str, ...] = ()) -> Callable[[type[C]], type[C]]:
    """All public methods and the making of a class are `checked`; `fast` ones look at their arguments themselves."""

    def decorate(cls: type[C]) -> type[C]:
        for name, member in list(vars(cls).items()):
            public = inspect.isfunction(member) and (name == "__init__" or not name.startswith("_"))
            if public and name not in fast and len(inspect.signature(member).parameters) > 1:
                setattr(cls, name, checked(member))
        return cls

    return decorate


def _request_error(told: str) -> BrokerError:
    return BrokerError(ErrorCode.INVALID_REQUEST, told)


def judged(name: str, kind: Kind, value: Any, refusal: Callable[[str], BrokerError] = _request_error) -> Any:
    """`value`, what gives its values once only as a tuple. Raises `refusal` where it is none of `kind`."""
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
