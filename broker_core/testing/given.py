"""`given_schedule`: a test over many schedules in virtual time, which fails with the smallest one that it finds."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, overload

from broker_core.plurals import counted
from broker_core.testing.schedule import BROKER_OF_ERROR, KINDS, Kind, Schedule, checked_kinds
from broker_core.testing.virtual_broker import VirtualBroker

MAX_SHRINKS = 300


@overload
def given_schedule(test: Callable[..., object], /) -> Callable[..., None]: ...
@overload
def given_schedule(
    *, schedules: int = 200, kinds: Sequence[Kind] = KINDS, schedule: Schedule | None = None
) -> Callable[[Callable[..., object]], Callable[..., None]]: ...
def given_schedule(
    test: Callable[..., object] | None = None,
    /,
    *,
    schedules: int = 200,
    kinds: Sequence[Kind] = KINDS,
    schedule: Schedule | None = None,
) -> Callable[[Callable[..., object]], Callable[..., None]] | Callable[..., None]:
    """Run a test once for each of the seeds 0 to `schedules` - 1, each time with a fresh `VirtualBroker`.

    A decorator, with or without arguments. The test gets the broker as its first argument; the others stay pytest's.
    `kinds` are what goes wrong: "crash", "pause", "drop_heartbeats", "leave". The first schedule that fails is made
    smaller for as long as it fails with the same type of error; that error is raised, with a note that holds the
    schedule. Give this as `schedule` to run it alone. Raises ValueError, and TypeError for what is no test.
    """
    if test is not None:
        return given_schedule()(test)
    if schedules < 1:
        raise ValueError("schedules must be 1 or more")
    checked_kinds(kinds)

    def decorate(test: Callable[..., object]) -> Callable[..., None]:
        if not inspect.isfunction(test):
            raise TypeError(
                f"given_schedule decorates a test function, not {test!r}; as in @given_schedule(schedules=50)"
            )
        signature = inspect.signature(test)
        names = [name for name in signature.parameters if name != "self"]
        if not names:
            raise TypeError(f"{test.__name__} needs an argument for the broker that given_schedule makes.")

        def run(each: Schedule, args: Sequence[Any], fixtures: dict[str, Any]) -> _Failure | None:
            with VirtualBroker(each, kinds=kinds) as broker:
                try:
                    test(*args, **fixtures, **{names[0]: broker})
                except Exception as error:
                    return _Failure(error, Schedule(each.seed, tuple(broker.disturbed)), broker)
            return None

        @functools.wraps(test)
        def run_all(*args: Any, **fixtures: Any) -> None:
            for seed in range(schedules) if schedule is None else ():
                failure = run(Schedule(seed), args, fixtures)
                if failure is not None:
                    _shrunk(failure, kinds, lambda each: run(each, args, fixtures)).tell(seed)
            failure = None if schedule is None else run(schedule, args, fixtures)
            if failure is not None:
                failure.tell()

        # pytest asks the signature which fixtures it needs.
        kept = [parameter for name, parameter in signature.parameters.items() if name != names[0]]
        run_all.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return run_all

    return decorate


class _Failure:
    """A run that failed; made while its broker is open."""

    def __init__(self, error: Exception, schedule: Schedule, broker: VirtualBroker) -> None:
        self.error = error
        self.schedule = schedule
        self.save = broker.save
        self.now_s = broker.now_s
        self._timeline = broker.timeline()
        self._uncommitted = broker.uncommitted()

    def timeline(self) -> str:
        return self._timeline

    def tell(self, seed: int | None = None) -> None:
        """Raises the error, with a note that holds the schedule where it came from `seed`."""
        if seed is not None:
            told = counted(len(self.schedule.disturbances or ()), "disturbance")
            self.error.add_note(
                f"Seed {seed} fails; the smallest failing schedule found has {told}. Run only this one with\n"
                f"    @given_schedule(schedule={self.schedule!r})"
            )
        if self._uncommitted:
            self.error.add_note(f"When the test failed, {self._uncommitted}: it may be held, not lost.")
        setattr(self.error, BROKER_OF_ERROR, self)
        raise self.error


def _shrunk(failure: _Failure, kinds: Sequence[Kind], run: Callable[[Schedule], _Failure | None]) -> _Failure:
    """The failure of the smallest schedule that still fails with the same type of error."""
    # The disturbances are given one by one from here on; if that is another run, the seed alone is told.
    again = run(failure.schedule)
    if again is None or type(again.error) is not type(failure.error):
        failure.schedule = Schedule(failure.schedule.seed)
        return failure
    runs, smallest = 1, again
    tried = {smallest.schedule}
    better = True
    while better and runs < MAX_SHRINKS:
        better = False
        for each in smallest.schedule.smaller(kinds):
            if each in tried or runs >= MAX_SHRINKS:
                continue
            tried.add(each)
            runs += 1
            found = run(each)
            if found is not None and type(found.error) is type(smallest.error):
                # What has no effect any more is not among those that have happened.
                smallest, better = found, True
                break
    return smallest
