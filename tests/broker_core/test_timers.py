"""Timers: order, cancelling, tickets."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from broker_core.timers import Timers


def fire_all(timers: Timers, until_ns: int = 10**9) -> None:
    while timers.fire_next(until_ns) is not None:
        pass


@given(st.lists(st.integers(0, 5), max_size=30), st.sets(st.integers(0, 29)))
def test_they_fire_in_the_order_of_time_and_creation_and_cancelled_ones_never(
    deadlines: list[int], cancelled: set[int]
) -> None:
    timers = Timers()
    fired: list[tuple[int, int]] = []

    def note(number: int) -> Callable[[int], None]:
        return lambda at_ns: fired.append((at_ns, number))

    made = [timers.at(deadline, note(number)) for number, deadline in enumerate(deadlines)]
    for number in cancelled:
        if number < len(made):
            made[number].cancel()
    wanted = sorted((deadline, number) for number, deadline in enumerate(deadlines) if number not in cancelled)
    assert len(timers) == len(wanted)
    fire_all(timers)
    assert fired == wanted
    assert timers.next_deadline_ns() is None


def test_a_ticket_keeps_its_place_in_line_even_when_it_is_used_twice() -> None:
    timers, fired = Timers(), []
    ticket = timers.ticket()
    timers.at(5, lambda _at: fired.append("later"))
    timers.at(5, lambda _at: fired.append("first with the ticket"), ticket)
    timers.at(5, lambda _at: fired.append("second with the ticket"), ticket)
    fire_all(timers)
    assert fired == ["first with the ticket", "second with the ticket", "later"]


def test_nothing_fires_before_its_time_and_the_action_gets_its_own_deadline() -> None:
    timers = Timers()
    fired: list[int] = []
    timers.at(7, fired.append)
    assert timers.fire_next(6) is None
    assert timers.fire_next(100) == 7
    assert fired == [7]


def test_a_timer_that_is_set_while_another_fires_waits_for_its_turn() -> None:
    timers, fired = Timers(), []
    timers.at(1, lambda at_ns: timers.at(at_ns, lambda _at: fired.append("new")))
    timers.at(1, lambda _at: fired.append("old"))
    fire_all(timers, 1)
    assert fired == ["old", "new"]
