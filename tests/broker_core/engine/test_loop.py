"""The loop: order, time, cancelling, and errors."""

import pytest

from broker_core.clock import NS_PER_S
from broker_core.engine.loop import Loop, TaskCancelledError, first_of
from broker_core.replies import Reply


def test_what_is_ready_runs_before_the_next_timer_even_at_the_same_time() -> None:
    loop, seen = Loop(), []
    loop.timers.at(0, lambda _at: seen.append("timer"))
    loop.call_soon(lambda: loop.call_soon(lambda: seen.append("second")))
    loop.call_soon(lambda: seen.append("first"))
    loop.run_until(0)
    assert seen == ["first", "second", "timer"]


def test_timers_at_one_time_fire_in_the_order_of_their_creation() -> None:
    loop = Loop()
    seen: list[int | str] = []

    def note(number: int) -> None:
        loop.timers.at(7, lambda _at: seen.append(number))

    for number in range(5):
        note(number)
    loop.timers.at(3, lambda _at: seen.append("early"))
    loop.run_until(7)
    assert seen == ["early", 0, 1, 2, 3, 4]


def test_until_is_inclusive_and_the_time_is_until_afterwards() -> None:
    loop, seen = Loop(), []
    loop.timers.at(10, lambda _at: seen.append("at 10"))
    loop.timers.at(11, lambda _at: seen.append("at 11"))
    loop.run_until(10)
    assert (seen, loop.now_ns) == (["at 10"], 10)


def test_a_task_sleeps_in_session_time() -> None:
    loop, woke = Loop(), []

    async def sleeper() -> str:
        await loop.sleep(1.5)
        woke.append(loop.now_ns)
        await loop.sleep(0.5)
        woke.append(loop.now_ns)
        return "done"

    task = loop.spawn(sleeper(), "sleeper")
    loop.run_until(10 * NS_PER_S)
    assert woke == [NS_PER_S * 3 // 2, 2 * NS_PER_S]
    assert task.finished.result() == "done"


def test_a_cancelled_task_tidies_up_and_a_late_reply_does_not_wake_it() -> None:
    loop = Loop()
    seen: list[int | str] = []
    reply: Reply[int] = Reply()

    async def waiting() -> None:
        try:
            seen.append(await reply)
        finally:
            seen.append("tidied")

    task = loop.spawn(waiting(), "waiting")
    loop.run_until(1)
    task.cancel()
    reply.resolve(42)
    loop.run_until(2)
    assert seen == ["tidied"]
    assert task.finished.done


def test_an_error_that_nobody_caught_reaches_who_drives_the_loop() -> None:
    loop = Loop()

    async def broken() -> None:
        await loop.sleep(1)
        raise KeyError("lost")

    loop.spawn(broken(), "broken")
    with pytest.raises(KeyError, match="lost"):
        loop.run_until(2 * NS_PER_S)


def test_waiting_for_any_prefers_the_order_of_the_arguments_and_loses_nothing() -> None:
    loop, seen = Loop(), []
    slow: Reply[str] = Reply()
    fast, also_fast = Reply.of("fast"), Reply.of("also fast")

    async def chooser() -> None:
        seen.append((await first_of(slow, fast, also_fast)).result())
        seen.append((await first_of(also_fast, fast)).result())

    loop.spawn(chooser(), "chooser")
    loop.run_until(0)
    assert seen == ["fast", "also fast"]
    assert slow.resolve("still there")


def test_a_closed_loop_drops_its_tasks_and_their_finally_has_run() -> None:
    loop, seen = Loop(), []

    async def waiting(name: str) -> None:
        try:
            await loop.sleep(1)
            seen.append(f"{name} went on")
        finally:
            seen.append(f"{name} tidied")

    started = loop.spawn(waiting("started"), "started")
    loop.run_until(0)
    unstarted = loop.spawn(waiting("unstarted"), "unstarted")
    loop.close()
    loop.run_until(2 * NS_PER_S)
    assert seen == ["started tidied"]
    assert started.finished.done
    assert unstarted.finished.done


def test_a_task_that_waits_for_something_else_after_a_cancel_is_not_woken_by_the_old_reply() -> None:
    loop = Loop()
    woken_ns: list[int] = []
    old: Reply[int] = Reply()

    async def tidying() -> None:
        try:
            await old
        except TaskCancelledError:
            await loop.sleep(1)
            woken_ns.append(loop.now_ns)

    task = loop.spawn(tidying(), "tidying")
    loop.run_until(0)
    task.cancel()
    loop.run_until(0)
    old.resolve(42)
    loop.run_until(2 * NS_PER_S)
    assert woken_ns == [NS_PER_S]


def test_what_came_for_a_task_just_before_its_cancel_comes_too_late():
    loop, told = Loop(), []
    reply: Reply[None] = Reply()

    async def wait() -> None:
        await reply
        told.append("went on")

    task = loop.spawn(wait(), "wait")
    loop.run_until(0)
    reply.resolve(None)
    task.cancel()
    loop.run_until(1)
    assert task.finished.done and told == []
