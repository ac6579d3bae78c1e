"""Any scenario, with any faults: its counters add up, no promise is broken, and it comes out the same again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from broker_core.recording.checker import Checker
from broker_core.simulation import parse_scenario
from broker_core.simulation.replay import EventDigest
from tests.broker_core.simulation.rerun import rerun
from tests.broker_core.simulation.session_run import SessionRun
from tests.long_form import examples

UNTIL_S = 25

rates = st.sampled_from([1, 4, 15])
times_ms = st.sampled_from([0, 5, 90, 400, 2_500])
seconds = st.floats(0.001, UNTIL_S - 1).map(lambda at_s: round(at_s, 3))
lasting = st.none() | st.floats(0.1, 12).map(lambda for_s: round(for_s, 3))


def flows(*policies: str) -> st.SearchStrategy[dict[str, Any] | None]:
    limited = st.fixed_dictionaries({"policy": st.sampled_from(policies), "max_messages": st.integers(1, 12)})
    return st.none() | limited | st.just({"policy": policies[0], "rate_per_s": 3.5, "burst": 2})


@st.composite
def arrivals(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["rate", "bursty", "ramp"]))
    shapes: dict[str, dict[str, Any]] = {
        "rate": {"per_s": draw(rates)},
        "bursty": {"per_s": draw(rates), "on_s": 1.5, "off_s": 2},
        "ramp": {"from_per_s": 1, "to_per_s": draw(rates), "over_s": 10},
    }
    spacing = draw(st.sampled_from(["constant", "poisson"]))
    return {"kind": kind, **shapes[kind], "spacing": spacing, "keys": draw(st.sampled_from([0, 3]))}


failures = st.lists(
    st.fixed_dictionaries(
        {"cause": st.just("broken"), "rate": st.just(0.3), "kind": st.sampled_from(["nack", "hang", "forget"])}
    ),
    max_size=2,
)


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    levels = draw(st.integers(1, 2))
    queue_config = {
        "lease_ms": draw(st.sampled_from([300, 2_000])),
        "max_attempts": draw(st.integers(1, 3)),
        "priorities": levels,
        "balancing": draw(st.sampled_from(["first-come", "round-robin", "weighted", "least-loaded"])),
        "retry": {"kind": draw(st.sampled_from(["none", "fixed", "exponential"])), "base_ms": 200},
    }
    targets = ["topic", "queue"]
    producers: list[dict[str, Any]] = [
        {"name": f"p{number}", "to": draw(st.sampled_from(targets)), "arrivals": draw(arrivals())}
        for number in range(draw(st.integers(1, 3)))
    ]
    for producer in producers:
        producer["arrivals"]["priorities"] = [1, 2][:levels]
    if draw(st.booleans()):
        producers[0]["adaptive"] = {"base_s": 0.1}
    else:
        producers[0]["linger_ms"] = draw(st.sampled_from([0, 700]))
    if draw(st.booleans()):
        producers[-1]["retry_ms"] = 300
    scenario: dict[str, Any] = {
        "title": "Any",
        "about": "Drawn.",
        "seed": draw(st.integers(0, 99)),
        "until_s": UNTIL_S,
        "topics": [
            {
                "name": "topic",
                "partitions": draw(st.integers(1, 3)),
                "flow": draw(flows("block", "reject", "drop_newest")),
            }
        ],
        "queues": [
            {
                "name": "queue",
                "config": queue_config,
                "flow": draw(flows("block", "reject", "drop_newest", "drop_oldest", "priority_evict")),
            }
        ],
        "groups": [
            {
                "name": "group",
                "topics": ["topic"],
                "assignor": draw(st.sampled_from(["range", "sticky", "cooperative-sticky"])),
                "session_timeout_ms": 3_000,
            }
        ],
        "producers": producers,
        "consumers": [
            {
                "name": "c",
                "count": draw(st.integers(1, 3)),
                "group": draw(st.sampled_from(["group", ""])),
                "processing": {"mean_ms": draw(times_ms), "kind": "exponential"},
                "commit": draw(st.sampled_from(["after", "before", "with_effect"])),
                "static": draw(st.booleans()),
                "max_poll_messages": draw(st.sampled_from([1, 7])),
            }
        ],
        "workers": [
            {
                "name": "w",
                "count": draw(st.integers(1, 2)),
                "queue": "queue",
                "processing": {"mean_ms": draw(times_ms)},
                "prefetch": draw(st.integers(1, 3)),
                "weight": draw(st.integers(0, 3)),
                "failures": draw(failures),
            }
        ],
        "subscribers": [
            {
                "name": "s",
                "topics": ["topic"],
                "backlog": draw(st.sampled_from([None, 1, 4])),
                "policy": draw(st.sampled_from(["drop_newest", "drop_oldest"])),
                "config": {"lease_ms": 900, "max_attempts": 2},
                "processing": {"mean_ms": draw(times_ms)},
                "failures": draw(failures),
            }
        ],
    }
    clients = st.sampled_from(["p0", "c-1", "w-1", "s"])
    faults = st.one_of(
        st.builds(lambda client, for_s: {"action": "crash", "client": client, "for_s": for_s}, clients, lasting),
        st.builds(lambda client, for_s: {"action": "pause", "client": client, "for_s": for_s}, clients, lasting),
        st.builds(lambda client: {"action": "restart", "client": client}, clients),
        st.builds(lambda client: {"action": "end_faults", "client": client}, clients),
        st.builds(lambda client: {"action": "slow_down", "client": client, "factor": 4.5}, clients),
        st.builds(lambda for_s: {"action": "drop_heartbeats", "client": "c-1", "for_s": for_s}, lasting),
        st.builds(lambda for_s: {"action": "fill_disk", "for_s": for_s}, lasting),
        st.builds(
            lambda group: {"action": "move_consumer", "consumer": "c-1", "group": group}, st.sampled_from(["", "group"])
        ),
        st.just({"action": "redrive", "queue": "queue", "offsets": [0, 1]}),
        st.just({"action": "jump_clock", "by_s": -86_400}),
    )
    scenario["schedule"] = draw(
        st.lists(st.builds(lambda at_s, do: {"at_s": at_s, "do": do}, seconds, faults), max_size=6)
    )
    return scenario


def without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_none(one) for name, one in value.items() if one is not None}
    return [without_none(one) for one in value] if isinstance(value, list) else value


@pytest.mark.promise("A22", "C7")
@settings(max_examples=examples(40), phases=(Phase.explicit, Phase.reuse, Phase.generate), report_multiple_bugs=False)
@given(scenarios())
def test_sums_and_promises_hold_whatever_happens(plain: dict[str, Any]) -> None:
    scenario = parse_scenario(json.dumps(without_none(plain)))
    run = SessionRun(scenario, checker=Checker.of(scenario))
    digests: list[EventDigest] = []
    rerun(scenario, [], prepare=lambda simulation: digests.append(EventDigest(simulation.events)))
    assert digests[0].hex == run.digest.hex
