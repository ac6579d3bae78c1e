"""Producers of a scenario: their pace, their limit, and what they do when they are refused."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pytest

from broker_core.clock import NS_PER_S, s_from_ns
from broker_core.events import Event, EventKind
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.actions.clients import SetProducerRate
from broker_core.simulation.actions.faults import Crash, Restart
from broker_core.simulation.producer import ProducerActor

TEXT = """\
title: Producers
about: One queue.
until_s: 100
queues: [{name: jobs, flow: {policy: POLICY, max_messages: 5}}]
producers:
  - name: p
    to: jobs
    arrivals: {kind: rate, per_s: 4}
    OPTIONS
workers:
  - {name: w, queue: jobs, processing: {mean_ms: 500}}
"""


def run(options: str = "", policy: str = "reject") -> tuple[Simulation, list[Event]]:
    text = TEXT.replace("POLICY", policy).replace("OPTIONS", options)
    simulation = Simulation(parse_scenario(text))
    events: list[Event] = []
    simulation.events.attach(events.append)
    simulation.run()
    return simulation, events


def test_what_is_refused_is_given_up() -> None:
    simulation, events = run()
    producer = simulation.actors["p"]
    assert producer.processed + producer.failed == 400
    assert producer.failed == sum(event.count for event in events if event.kind is EventKind.REJECTED) > 190


def test_what_is_refused_is_offered_again_where_the_producer_retries() -> None:
    simulation, _ = run("retry_ms: 100")
    values = [
        simulation.broker.logs.partition("jobs", 0).message(offset).value
        for offset in range(simulation.totals().published)
    ]
    assert [value.split()[1] for value in values if value] == [str(number).encode() for number in range(len(values))]
    assert simulation.actors["p"].failed > 0
    assert len(values) == pytest.approx(200, abs=8)


@pytest.mark.promise("A16")
def test_a_producer_keeps_its_own_rate_and_its_burst() -> None:
    _, events = run("rate_per_s: 1.5\n    burst: 3")
    times_s = [s_from_ns(event.time_ns) for event in events if event.kind is EventKind.PUBLISHED]
    assert [round(at_s, 2) for at_s in times_s[:4]] == [0.25, 0.5, 0.75, 1.0]
    assert len(times_s) == pytest.approx(1.5 * 100 + 3, abs=1)
    per_s = Counter(int(at_s) for at_s in times_s if at_s > 10)
    assert max(per_s.values()) <= 2


@pytest.mark.parametrize("policy", ["reject", "drop_newest"])
def test_an_adaptive_producer_finds_the_pace_of_its_reader(policy: str) -> None:
    simulation, events = run("adaptive: {base_s: 0.25, on_refusal_times: 2, on_success_divide: 1.1}", policy)
    producer = simulation.actors["p"]
    assert isinstance(producer, ProducerActor)
    assert producer.pace is not None
    assert 0.25 <= producer.pace.interval_s <= 4
    assert producer.failed < producer.processed / 5
    late = [event for event in events if event.kind is EventKind.PUBLISHED and event.time_ns > 20 * NS_PER_S]
    assert len(late) / 80 == pytest.approx(2, rel=0.15)


def test_a_producer_ends_with_its_arrivals() -> None:
    simulation, _ = run()
    assert simulation.actors["p"].state == "running"
    text = TEXT.replace("POLICY", "block").replace("OPTIONS", "").replace("per_s: 4}", "per_s: 4, limit: 3}")
    short = Simulation(parse_scenario(text))
    short.run()
    assert short.actors["p"].state == "stopped"
    assert short.totals().published == 3


LINGERING = """\
title: Lingering
about: One topic of three partitions.
until_s: 20
topics: [{name: orders, partitions: 3}]
producers:
  - {name: p, to: orders, linger_ms: 100, arrivals: {kind: rate, per_s: 50, keys: 4, limit: 500}}
"""


def lingering() -> tuple[Simulation, list[Event]]:
    simulation = Simulation(parse_scenario(LINGERING))
    events: list[Event] = []
    simulation.events.attach(events.append)
    return simulation, events


def sent_to(simulation: Simulation, partition: int) -> list[int]:
    """The messages of a partition, by the number in their text."""
    log = simulation.broker.logs.partition("orders", partition)
    values = [log.message(offset).value or b"" for offset in range(log.end_offset)]
    return [int(value.split()[1]) for value in values]


def test_a_lingering_producer_sends_what_has_come_in_one_batch_for_each_partition() -> None:
    simulation, events = lingering()
    simulation.run()
    published = [event for event in events if event.kind is EventKind.PUBLISHED]
    by_time: dict[int, list[Event]] = {}
    for event in published:
        by_time.setdefault(event.time_ns, []).append(event)
    # The first of a batch waits for 100 ms, in which five more come at 20 ms each.
    assert [s_from_ns(time_ns) for time_ns in list(by_time)[:3]] == [0.12, 0.24, 0.36]
    assert {sum(event.count for event in batch) for batch in list(by_time.values())[:-1]} == {6}
    assert all(len({event.partition for event in batch}) == len(batch) for batch in by_time.values())
    found = [sent_to(simulation, partition) for partition in range(3)]
    assert found == [sorted(each) for each in found], "the order within a partition is kept"
    assert sorted(chain(*found)) == list(range(500))
    assert simulation.actors["p"].processed == 500


def test_a_lingering_producer_keeps_the_rate_that_a_person_sets() -> None:
    simulation, events = lingering()
    simulation.run(1)
    simulation.perform(SetProducerRate("p", 17))  # no multiple of the linger
    simulation.run(11)
    sent = sum(event.count for event in events if event.kind is EventKind.PUBLISHED and event.time_ns > NS_PER_S)
    assert sent == pytest.approx(17 * 10, abs=4)


def test_what_a_lingering_producer_had_at_hand_in_a_crash_is_sent_once_it_is_back() -> None:
    simulation, _ = lingering()
    simulation.run(2.05)
    simulation.perform(Crash("p"))
    simulation.run(4)
    simulation.perform(Restart("p"))
    simulation.run()
    assert sorted(chain(*(sent_to(simulation, partition) for partition in range(3)))) == list(range(500))


def test_a_batch_that_waits_for_room_in_a_crash_is_offered_again_in_its_order() -> None:
    text = TEXT.replace("POLICY", "block").replace("OPTIONS", "linger_ms: 900")
    simulation = Simulation(parse_scenario(text))
    simulation.run(10)
    assert simulation.actors["p"].state == "blocked"
    simulation.perform(Crash("p"))
    simulation.run(12)
    simulation.perform(Restart("p"))
    simulation.run()
    values = [
        simulation.broker.logs.partition("jobs", 0).message(offset).value
        for offset in range(simulation.totals().published)
    ]
    assert [value.split()[1] for value in values if value] == [str(number).encode() for number in range(len(values))]


def test_a_batch_is_taken_whole_or_not_at_all() -> None:
    simulation, events = run("linger_ms: 900")
    refused = [event.count for event in events if event.kind is EventKind.REJECTED]
    producer = simulation.actors["p"]
    assert producer.failed == sum(refused) > 0
    assert set(refused) == {4}
    assert producer.processed + producer.failed == 396, "the last four have not been sent yet"
