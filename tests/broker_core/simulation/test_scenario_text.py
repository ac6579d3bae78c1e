"""A scenario as text: it reads back as the same (a law), and looks as a person would write it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import resources
from broker_core.flow.config import FlowConfig
from broker_core.simulation.actions.dead_letters import EditDeadLetter, Redrive
from broker_core.simulation.actions.topics import CreateTopic
from broker_core.simulation.scenario import Scenario, parse_scenario
from broker_core.simulation.scenario_text import scenario_text, text_with
from broker_core.simulation.specs import Scheduled
from broker_core.simulation.strict_yaml import Document
from tests.broker_core.simulation.test_all_actions import Life
from tests.broker_core.simulation.test_any_scenario import scenarios, without_none
from tests.long_form import examples

SHIPPED = sorted(resources.path("scenarios").glob("*.yaml"))
SMALL = "title: Small\nabout: x\nuntil_s: 9\ntopics:\n  - name: orders\n"
WIDTH = 120
DONE = Scheduled(at_s=2, do=CreateTopic(name="more", flow=FlowConfig(max_messages=3)))
WRITTEN = [
    "  # Manual actions, in order.",
    "  - at_s: 2",
    "    do: {action: create_topic, name: more, flow: {max_messages: 3}}",
]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_scenario_reads_back_as_the_same_in_short_lines(path: Any) -> None:
    scenario = parse_scenario(path.read_text("utf-8"))
    text = scenario_text(scenario)
    assert parse_scenario(text) == scenario
    assert scenario_text(parse_scenario(text)) == text
    lines = text.splitlines()
    assert lines[:2] == [f"# {scenario.title}", f"title: {scenario.title}"]
    assert max(map(len, lines)) <= WIDTH
    assert "null" not in text
    keys = [line.partition(":")[0] for line in lines if line[:1].isalpha()]
    assert keys == [key for key in (field.encode_name for field in msgspec.structs.fields(Scenario)) if key in keys]


def scheduled(text: str) -> list[Scheduled]:
    plain = Document(text).value
    assert isinstance(plain, dict)
    return msgspec.convert(plain["schedule"], list[Scheduled])


words = st.text(st.characters(codec="utf-8"), max_size=200) | st.text("a :-#'\"{}[],&*!|>%@`?~\n\t0", max_size=60)
tricky = st.sampled_from(
    [
        "",
        "null",
        "true",
        "7",
        "1e3",
        "~",
        "- a",
        "a: b",
        "a #b",
        "'",
        '"',
        "\n",
        " a",
        "a ",
        "a\n",
        "a\n\nb\n",
        "...",
        "---",
    ]
)


@pytest.mark.parametrize("text", ["\x85", "a\u2028b", "\u2029\n", "a\r\nb", "\r"])
def test_what_ends_a_line_in_yaml_is_escaped(text: str) -> None:
    scenario = msgspec.structs.replace(parse_scenario(SMALL), about=text, watch=(text, " "))
    assert parse_scenario(scenario_text(scenario)) == scenario


@settings(max_examples=examples(60))
@given(scenarios(), st.lists(words | tricky, min_size=4, max_size=4))
def test_any_scenario_reads_back_as_the_same(plain: dict[str, Any], texts: list[str]) -> None:
    plain = without_none(plain) | dict(zip(("title", "about"), texts, strict=False)) | {"watch": texts, "try": texts}
    plain["producers"][0]["arrivals"]["value"] = texts[2]
    plain["workers"][0]["failures"] = [
        {"cause": texts[3], "rate": 0.1, "when": {"field": texts[2], "op": "equals", "value": texts[1]}}
    ]
    plain["producers"].append(
        {"name": "file", "to": "topic", "arrivals": {"kind": "file", "file": "x", "where": {texts[0]: texts[1]}}}
    )
    scenario = msgspec.convert(plain, Scenario)
    assert parse_scenario(scenario_text(scenario)) == scenario


@pytest.mark.parametrize("seed", [1, 2])
def test_all_that_a_person_can_do_reads_back_as_the_same(seed: int) -> None:
    done = [Scheduled(at_s=number / 7, do=action) for number, action in enumerate(Life(seed).done)]
    scenario = parse_scenario(SMALL)
    text = text_with(SMALL, 1, done)
    # What is done may name what is made by what is done before it, which this scenario has not.
    found = scheduled(text)
    assert found == done and scenario.schedule == ()
    assert max(map(len, text.splitlines())) <= WIDTH


def test_what_the_author_has_written_is_kept_with_its_comments() -> None:
    text = f"# Mine.\n{SMALL}seed:  4 # four\n\n# The end.\n"
    assert text_with(text, 7, [DONE]).splitlines() == [
        "# Small, with manual actions",
        *text.replace("4", "7").splitlines(),
        "schedule:",
        *WRITTEN,
    ]
    assert text_with(SMALL, 7, ()) == "# Small\n" + SMALL.replace("until_s", "seed: 7\nuntil_s")


def test_what_was_done_goes_behind_the_schedule_that_is_there() -> None:
    schedule = "schedule:\n- at_s: 1\n  do:\n    action: fill_disk  # the disk\n# After it.\n\nseed: 3\n"
    text = text_with(SMALL + schedule, 3, [DONE])
    before, after = schedule.split("# After it.")
    written = "".join(f"{line[2:]}\n" for line in WRITTEN)
    assert text == f"# Small, with manual actions\n{SMALL}{before}{written}# After it.{after}"
    assert text_with(text, 3, ()).startswith("# Small\n# Small, with"), "and saved again it says what it is now"
    assert text_with(text, 3, [DONE]).count("# Small") == 1


@pytest.mark.parametrize(
    "text",
    [
        "{title: Small, about: x, until_s: 9, topics: [{name: orders}]}",
        SMALL + "schedule: [{at_s: 1, do: {action: fill_disk}}]\n",
        SMALL + "...\n",
        json.dumps({"title": "Small", "about": "x", "until_s": 9, "topics": [{"name": "orders"}]}),
    ],
)
def test_what_is_not_written_line_by_line_is_written_anew(text: str) -> None:
    found = text_with(text, 5, [DONE])
    before = parse_scenario(text)
    assert parse_scenario(found) == msgspec.structs.replace(before, seed=5, schedule=(*before.schedule, DONE))
    assert found.startswith("# Small, with manual actions\ntitle: Small\nabout: x\nseed: 5\nuntil_s: 9\n\n")
    assert found.endswith("\n".join(WRITTEN[1:]) + "\n")


def test_long_lists_and_long_texts_are_broken() -> None:
    value = json.dumps({"words": "many words " * 30, "lines": ["a"] * 40})
    done = [
        Scheduled(at_s=1, do=Redrive(queue="orders", offsets=list(range(1_000, 1_200)))),
        Scheduled(at_s=2, do=EditDeadLetter("orders", 3, value, headers=(("a", "b"), ("c", "d" * 90)))),
    ]
    scenario = msgspec.structs.replace(parse_scenario(SMALL), schedule=tuple(done))
    text = scenario_text(scenario)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert len(text.splitlines()) < 60
    assert scheduled(text) == done
