"""Random histories: each message is in one state for each reader, and the account is what a recount counts."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import resources
from broker_core.clock import NS_PER_S
from broker_core.events import Event
from broker_core.recording.account import Account
from broker_core.recording.live_session import LiveSession
from broker_core.recording.verdicts import Order, as_json
from broker_core.simulation.scenario import parse_scenario
from tests.figures.accounts import differences
from tests.figures.random_scenarios import random_scenario
from tests.figures.recount import account as recounted
from tests.long_form import form

UNTIL_S = form(8, 20)
TIMES = st.floats(1, UNTIL_S - 0.5).map(lambda at_s: round(at_s, 3))
_TO_LEFT = 4  # actions that are drawn beside those of a random scenario


def _actions(spec: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """What a user does that random scenarios leave out."""
    topics = [topic["name"] for topic in spec["topics"]]
    groups = [group["name"] for group in spec["groups"]]
    queues = [queue["name"] for queue in spec["queues"]]
    readers = [f"{each['name']}-{number + 1}" for each in spec["consumers"] for number in range(each["count"])]
    offsets = st.integers(0, 60)

    def action(action: str, /, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
        return st.fixed_dictionaries({"action": st.just(action), **fields})

    topic, group = st.sampled_from(topics), st.sampled_from(groups)
    place = {"topic": topic, "partition": st.just(0)}
    target = st.fixed_dictionaries({"form": st.just("offset"), "offset": offsets})
    return st.one_of(
        action("delete_records", topic=topic, before=st.fixed_dictionaries({"0": offsets})),
        action("configure_topic", topic=topic, log=st.just({"cleanup": "compact", "segment_bytes": 200})),
        action("delete_topic", topic=topic),
        action("restore_deleted", name=st.sampled_from([*topics, *queues])),
        action("delete_queue", queue=st.sampled_from(queues)),
        action("delete_group", group=group),
        action("seek", consumer=st.sampled_from(readers), **place, target=target),
        action(
            "set_offsets",
            group=group,
            offsets=st.tuples(st.tuples(topic, st.just(0), offsets).map(list)).map(list),
            restart_members=st.just(True),
        ),
        action("undo_redrive", queue=st.sampled_from(queues)),
        action("reset_offsets", group=group, form=st.just("shift-by"), offset=st.integers(-20, 20)),
        action("restart", client=st.sampled_from(readers)),
    )


@st.composite
def histories(draw: st.DrawFn) -> str:
    """A scenario as YAML: groups, queues, subscriptions and transactions, and what happens to them."""
    spec = yaml.safe_load(random_scenario(draw(st.integers(0, 10_000))))
    spec["until_s"] = UNTIL_S
    schedule = [each for each in spec["schedule"] if each["at_s"] < UNTIL_S - 0.5]
    if draw(st.booleans()):
        spec["producers"][0].pop("linger_ms", None)
        spec["producers"][0]["transactional"] = {"messages": draw(st.integers(2, 9)), "abort_every": 2}
        spec["groups"][0]["isolation_level"] = "read_committed"
    for at_s in draw(st.lists(TIMES, max_size=_TO_LEFT)):
        schedule.append({"at_s": at_s, "do": draw(_actions(spec))})
    spec["schedule"] = sorted(schedule, key=lambda each: float(each["at_s"]))
    return str(yaml.safe_dump(spec, sort_keys=False))


@pytest.mark.promise("44")
@pytest.mark.timeout(3_000)
@settings(max_examples=form(4, 60), deadline=None)
@given(histories(), st.integers(0, 1_000))
def test_each_message_is_in_one_state_and_the_account_is_what_a_recount_counts(text: str, seed: int) -> None:
    rows: list[dict[str, Any]] = []
    product, order = Account(), Order()
    live = LiveSession(
        *(parse_scenario(text), text),
        folder=None,
        find_file=lambda name: resources.path("sample_data", name),
        sinks=[product, order, lambda event: rows.append(_row(event))],
    )
    counted = recounted.Account(yaml.safe_load(text))
    numbers = random.Random(seed)
    end_ns = UNTIL_S * NS_PER_S
    try:
        for at in sorted({numbers.randrange(1, end_ns) for _ in range(form(3, 20))} | {end_ns}):
            while live.simulation.loop.run_next(at):
                pass
            for row in rows[counted.events :]:
                counted.add(row)
            assert differences(as_json(product, order, []), counted) == []
    finally:
        live.close(finished=True)


def _row(event: Event) -> dict[str, Any]:
    """As a recording has it."""
    found = {name: getattr(event, name) for name in event.__struct_fields__}
    return found | {"kind": str(event.kind), "detail": msgspec.json.decode(msgspec.json.encode(event.detail or {}))}
