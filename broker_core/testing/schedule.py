from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import msgspec

Kind = Literal["crash", "pause", "drop_heartbeats", "leave"]  # the simplest first
When = Literal["before", "after"]

KINDS: tuple[Kind, ...] = get_args(Kind)
MAX_PER_CONSUMER = 2
MEAN_CALL = 12
DURATIONS_S = (0.5, 1.0, 3.0, 8.0, 15.0)  # shorter and longer than a session timeout
#: The attribute of an error that `given_schedule` raises: the broker of the run, for the plugin. It stands here because
#: the plugin may load nothing that takes long, and `given_schedule` needs no pytest.
BROKER_OF_ERROR = "brokerscope_broker"


def checked_kinds(kinds: Sequence[Kind]) -> tuple[Kind, ...]:
    """`kinds` as they are given. Raises ValueError for another word."""
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is not a kind of disturbance; there are {', '.join(KINDS)}")
    return tuple(kinds)


class Disturbance(msgspec.Struct, frozen=True):
    """A disturbance of `client` in its `call`-th call of the broker, counted from 1 across restarts.

    `before`: the request does not arrive; `after`: it arrives, but its reply does not come back. `crash` restarts the
    function after `for_s`; `pause` stops it for that long, including its heartbeats; `drop_heartbeats` loses only the
    heartbeats; `leave` takes the member out of its group and restarts it after `for_s`.
    """

    client: str
    call: int
    when: When
    kind: Kind
    for_s: float

    def __post_init__(self) -> None:
        if self.call < 1 or not 0 < self.for_s < float("inf"):
            raise ValueError("call must be 1 or more, and for_s above 0")


class Schedule(msgspec.Struct, frozen=True):
    """A run: the same `seed` and `disturbances` repeat it. Without disturbances they are drawn from the seed."""

    seed: int
    disturbances: tuple[Disturbance, ...] | None = None

    def of(self, client: str, kinds: Sequence[Kind] = KINDS) -> tuple[Disturbance, ...]:
        if self.disturbances is not None:
            return tuple(each for each in self.disturbances if each.client == client)
        numbers = random.Random(f"{self.seed}/{client}/disturbances")
        count = numbers.randint(0, MAX_PER_CONSUMER) if kinds else 0
        return tuple(
            Disturbance(
                client,
                1 + int(numbers.expovariate(1 / MEAN_CALL)),
                numbers.choice(get_args(When)),
                numbers.choice(list(kinds)),
                numbers.choice(DURATIONS_S),
            )
            for _ in range(count)
        )

    def smaller(self, kinds: Sequence[Kind] = KINDS) -> Iterator[Schedule]:
        """Schedules of `kinds` that are simpler by one step, the simplest first; `disturbances` must be given."""
        given = self.disturbances or ()
        for place in range(len(given)):
            yield self._with(place, ())
        for place, each in enumerate(given):
            for call in sorted({1, each.call // 2, each.call - 1} & set(range(1, each.call))):
                yield self._with(place, (msgspec.structs.replace(each, call=call),))
            for for_s in DURATIONS_S:
                if for_s < each.for_s:
                    yield self._with(place, (msgspec.structs.replace(each, for_s=for_s),))
            for kind in KINDS[: KINDS.index(each.kind)]:
                if kind in kinds:
                    yield self._with(place, (msgspec.structs.replace(each, kind=kind),))

    def _with(self, place: int, instead: tuple[Disturbance, ...]) -> Schedule:
        given = self.disturbances or ()
        return msgspec.structs.replace(self, disturbances=given[:place] + instead + given[place + 1 :])
