"""What may be written at the cursor (here: |) in a scenario, told from the types of its parts."""

from __future__ import annotations

import random
from typing import get_args

import msgspec
import pytest

import resources
from broker_core.groups.assignors import AssignorName
from broker_core.operations.spec_kinds import members, tag
from broker_core.simulation import Scenario, load_scenario, parse_scenario
from broker_core.simulation.actions import UserAction
from broker_core.simulation.scenario_completion import complete
from tests.long_form import both, form

TEXT = """\
title: Orders
about: What this teaches.
until_s: 60
topics:
  - {name: orders, partitions: 3}
queues:
  - {name: builds}
groups:
  - {name: billing, topics: [orders]}
producers:
  - {name: shop, to: orders, arrivals: {kind: rate, per_s: 10}}
consumers:
  - {name: biller, count: 2, group: billing}
workers:
  - {name: builder, queue: builds}
subscribers:
  - {name: mailer, topics: [orders]}
"""
KNOWN = parse_scenario(TEXT)


def choices(text: str) -> list[str]:
    at = text.index("|")
    return [one.text.strip() for one in complete(text.replace("|", "", 1), at, KNOWN).choices]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("topics: [orders]}", "topics: [|]}", ["builds.dlq", "orders"]),
        ("topics: [orders]}", "topics: [orders], |}", ["assignor:", "session_timeout_ms:", "heartbeat_interval_ms:"]),
        ("topics: [orders]}", "topics: [orders], assignor: |}", list(get_args(AssignorName))),
        ("to: orders", "to: |", ["builds", "orders"]),
        ("to: orders", "to: o|", ["orders"]),
        ("kind: rate", "kind: |", ["file", "rate", "bursty", "ramp"]),
        ("group: billing", "group: |", ["billing"]),
        ("queue: builds", "queue: |", ["builds"]),
        ("partitions: 3", "pa|rtitions: 3", ["partitions", "partitioner"]),
        ("count: 2", "static: |", ["true", "false"]),
        ("until_s: 60", "until_s: 60\ndurability: |", ["memory", "file"]),
        ("What this teaches.", "What | this", []),
    ],
)
def test_keys_words_and_names(before: str, after: str, expected: list[str]) -> None:
    found = choices(TEXT.replace(before, after, 1))
    assert found[: len(expected)] == expected and bool(found) == bool(expected)


def test_a_list_that_is_not_indented_ends_with_the_mapping_around_it() -> None:
    begun = f"{TEXT}schedule:\n- at_s: 4\n  do:\n    action: crash\n"
    nested = TEXT.replace("{name: billing, topics: [orders]}", "name: billing\n    topics:\n    - orders")
    assert choices(f"{nested}producers:\n  - to: |") == ["builds", "orders"]
    assert "watch:" in choices(f"{begun}|")


@pytest.mark.parametrize("indent", ["  ", ""])
def test_blocks_are_followed_by_their_indents(indent: str) -> None:
    begun = f"{TEXT}schedule:\n{indent}- at_s: 4\n{indent}  do:\n{indent}    action: crash\n"
    assert choices(f"{begun}{indent}    client: |") == ["biller-1", "biller-2", "builder-1", "mailer", "shop"]
    assert choices(f"{begun}{indent}    f|") == ["for_s:"]
    assert choices(f"{begun}{indent}  |") == ["after_events:"]
    assert choices(f"{begun}{indent}- |")[:2] == ["at_s:", "do:"]
    # Back at the outermost: what is not there yet, what must be there first.
    assert choices(f"{begun}|") == [
        "watch:",
        "try:",
        "seed:",
        "attach:",
        "durability:",
        "rebalance_delay_ms:",
        "consumer_session_timeout_ms:",
        "consumer_heartbeat_interval_ms:",
        "schemas:",
        "share_groups:",
        "alerts:",
        "lesson:",
    ]


def test_what_must_be_there_comes_first_and_says_so() -> None:
    found = complete("", 0, None).choices
    assert [one.text for one in found if one.is_required] == ["title: ", "about: ", "until_s: "]
    assert {one.text.removesuffix(": ") for one in found} == {
        field.encode_name for field in msgspec.structs.fields(Scenario)
    }


def test_every_action_is_known() -> None:
    found = choices(f"{TEXT}schedule:\n  - at_s: 4\n    do: {{action: |}}")
    assert set(found) == {tag(action) for action in members(UserAction)}


def test_without_a_scenario_that_could_run_there_are_no_names() -> None:
    text = TEXT.replace("to: orders", "to: ")
    assert complete(text, text.index("to: ") + 4, None).choices == ()


@both
def test_every_place_of_every_scenario_is_answered() -> None:
    """Nothing raises, and wherever a word of the specs is written it is among what is offered."""
    dice = random.Random(3)
    for path in resources.path("scenarios").glob("*.yaml"):
        scenario, text = load_scenario(path)
        for at in dice.sample(range(len(text)), form(4, 25)):
            found = complete(text, at, scenario)
            assert found.start <= at
            complete(text[:at], at, scenario)
