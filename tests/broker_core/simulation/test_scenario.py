"""Scenarios: typed, checked, with errors that name the line."""

from pathlib import Path

import pytest

from broker_core.errors import ScenarioError
from broker_core.simulation.scenario import load_scenario, parse_scenario

GOOD = """\
title: Small
about: One of each.
until_s: 10
topics:
  - name: orders
    partitions: 2
queues:
  - name: jobs
groups:
  - name: readers
    topics: [orders]
producers:
  - name: shop
    to: orders
    arrivals: {kind: rate, per_s: 5}
consumers:
  - name: reader
    count: 2
    group: readers
workers:
  - name: worker
    queue: jobs
    failures:
      - {cause: broken, rate: 0.5}
"""


def test_a_good_scenario_is_read_into_types() -> None:
    scenario = parse_scenario(GOOD)
    assert scenario.topics[0].partitions == 2
    assert scenario.consumers[0].group == "readers"
    assert scenario.workers[0].failures[0].kind == "nack"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("partitions: 2", "partitons: 2", 6, "'partitons' is not known here; did you mean 'partitions'"),
        ("partitions: 2", "partitions: two", 6, "partitions must be a whole number, not the text 'two'"),
        ("partitions: 2", "partitions: 0", 6, "partitions must be at least 1"),
        ("topics: [orders]", "topics: [order]", 11, "no topic 'order'; the scenario has "),
        ("to: orders", "to: nowhere", 14, "no topic or queue 'nowhere'"),
        ("group: readers", "group: writers", 19, "no group 'writers'"),
        ("queue: jobs", "queue: job", 22, "no queue 'job'"),
        ("name: jobs", "name: orders", 8, "'orders' is already taken"),
        ("name: worker", "name: shop", 21, None),
        ("name: orders", "name: ../orders", 5, "letters, digits"),
        ("per_s: 5", "per_s: 0", 15, "per_s must be more than 0"),
        ("rate: 0.5", "rate: 5", 24, "at most 1"),
        ("until_s: 10", "until_s: 0", 3, "until_s must be more than 0, not 0"),
        ("until_s: 10\n", "", 1, "the key 'until_s' is missing"),
        ("kind: rate", "kind: magic", 15, "magic"),
    ],
)
def test_an_error_names_the_line(old: str, new: str, line: int, words: str | None) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    if words is None:
        # worker-1 and shop are different names: nothing is wrong.
        assert parse_scenario(text)
        return
    with pytest.raises(ScenarioError, match=words) as caught:
        parse_scenario(text, "small.yaml")
    assert str(caught.value).startswith(f"small.yaml, line {line}: "), str(caught.value)


MORE = """\
subscribers:
  - name: fan
    topics: [orders]
schedule:
  - at_s: 3
    do: {action: crash, client: reader-1}
  - at_s: 4
    do: {action: move_consumer, consumer: reader-1, group: readers}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("partitions: 2", "schema: {subject: order}", 6, "no schema 'order'; the scenario has none"),
        ("topics:\n", "schemas:\n  - {subject: order, text: '{\"type\": 5}'}\ntopics:\n", 5, "this is not a schema"),
        ("per_s: 5", "per_s: 5, tombstones: 0.5", 15, "tombstones"),
        ("partitions: 2", "log: {cleanup: shred}", 6, "shred"),
        ("partitions: 2", "log: {retention_ms: -1}", 6, "retention_ms"),
        ("topics: [orders]\nschedule", "topics: [order]\nschedule", 27, "no topic 'order'"),
        ("topics: [orders]\nschedule", "topics: [orders, orders]\nschedule", 27, "'orders' is listed twice"),
        ("topics: [orders]\nschedule", "topics: []\nschedule", 27, "topics must have at least 1 entry"),
        ("name: fan", "name: jobs", 26, "'jobs' is already taken"),
        ("name: fan", "name: shop", 26, "'shop' is already taken"),
        ("name: fan", "name: fan\n    backlog: 0", 27, "backlog must be at least 1"),
        ("name: fan", "name: fan\n    policy: drop_any", 27, "policy"),
        ("client: reader-1", "client: nobody", 30, "no actor 'nobody'"),
        ("action: crash", "action: explode", 30, "explode"),
        ("client: reader-1", "client: reader-1, for_s: -1", 30, "for_s must be more than 0"),
        ("client: reader-1", "client: reader-1, force: 3", 30, "'force' is not known here"),
        ("at_s: 3", "at_s: -3", 29, "at_s must be at least 0"),
        ("consumer: reader-1", "consumer: shop", 32, "no consumer 'shop'"),
        ("per_s: 5", "per_s: 5, spacing: poison", 15, "poison"),
        ("kind: rate, per_s: 5", "kind: bursty, per_s: 5, on_s: 0, off_s: 1", 15, "on_s must be more than 0"),
        ("to: orders\n    arrivals: {", "to: jobs\n    arrivals: {priorities: [1, 2], ", 15, "draws 2 priorities"),
        ("kind: rate, per_s: 5}", "kind: rate, per_s: 5}\n    linger_ms: -1", 16, "linger_ms must be at least 0"),
        (
            "kind: rate, per_s: 5}",
            "kind: rate, per_s: 5}\n    linger_ms: 5\n    adaptive: {base_s: 1}",
            13,
            "cannot be combined",
        ),
        ("rate: 0.5", "rate: 0.5, when: {field: a, op: like, value: 3}", 24, "like"),
    ],
)
def test_an_error_in_the_newer_parts_names_the_line_too(old: str, new: str, line: int, words: str) -> None:
    text = (GOOD + MORE).replace(old, new, 1)
    assert parse_scenario(GOOD + MORE).subscribers[0].topics == ("orders",)
    with pytest.raises(ScenarioError, match=words) as caught:
        parse_scenario(text, "small.yaml")
    assert str(caught.value).startswith(f"small.yaml, line {line}: "), str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("partitions: 2", "partitions: 2.5", 6, "partitions must be a whole number, not 2.5."),
        ("name: orders", "name:", 5, "name must be text, but nothing is there."),
        ("name: orders", "name: 7", 5, "name must be text, not 7; put it in quotes."),
        ("  - name: orders\n    partitions: 2\n", "  - 7\n", 5, "entry 1 of topics must be keys with values, not 7."),
        ("topics: [orders]", "topics: orders", 11, "topics must be a list, not the text 'orders'."),
        ("partitions: 2", "flow: [1]", 6, "flow must be keys with values, not a list."),
        ("group: readers", "static: 1", 19, "static must be true or false, not 1."),
        ("kind: rate, ", "", 15, "the key 'kind' is missing in arrivals; there are file, rate, bursty, ramp."),
        (", per_s: 5", "", 15, "the key 'per_s' is missing in arrivals."),
        ("kind: rate", "kind: magic", 15, "kind cannot be 'magic'; there are file, rate, bursty, ramp."),
        ("kind: rate", "kind: 3", 15, "kind cannot be '3'; there are file, rate, bursty, ramp."),
        ("kind: rate", "kind: burst", 15, "kind cannot be 'burst'; did you mean 'bursty'?"),
        (
            "{kind: rate, per_s: 5}",
            "{kind: file, file: x, where: {a: b, c: [1]}}",
            15,
            "c must be text or a whole number, not a list.",
        ),
        ("count: 2", "count: -2", 18, "count must be at least 0, not -2."),
        ("count: 2", "count: 2\n    max_poll_messages: 0", 19, "max_poll_messages must be at least 1, not 0."),
        ("count: 2", "count: 2\n    first: -1", 19, "first must be at least 0, not -1."),
        ("name: worker\n", "name: worker\n    count: -1\n", 22, "count must be at least 0, not -1."),
        ("count: 2", "count: true", 18, "count must be a whole number, not true."),
        (
            "rate: 0.5",
            "rate: 0.5, when: {value: }",
            24,
            "value must be text, a number or true or false, but nothing is there.",
        ),
        (
            "queue: jobs",
            "queue: jobs\n    colour: red",
            23,
            "the key 'colour' is not known here; there are name, count, queue, "
            "processing, prefetch, weight, ack, failures.",
        ),
        ("name: jobs\n", "name: jobs\n    config: {max_attempts: 0}\n", 9, "max_attempts must be at least 1, not 0."),
        ("until_s: 10", f"until_s: 1{'0' * 350}", 3, "until_s is a number that is too large."),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_yaml(old: str, new: str, line: int, sentence: str) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text, "small.yaml")
    assert str(caught.value) == f"small.yaml, line {line}: {sentence}"


def test_the_lists_of_an_action_are_named_by_their_entries_too() -> None:
    text = GOOD + "schedule:\n  - at_s: 1\n    do: {action: set_offsets, group: g, offsets: [[orders, 0, 1], [%s]]}\n"
    for wrong, sentence in (
        ("1", "entry 2 of offsets must be a list of 3, not of 1."),
        ("orders, 1, x", "entry 3 of entry 2 of offsets must be a whole number, not the text 'x'."),
    ):
        with pytest.raises(ScenarioError) as caught:
            parse_scenario(text % wrong)
        assert str(caught.value) == f"scenario, line 27: {sentence}"


def test_a_bad_flow_or_queue_setting_names_its_line() -> None:
    text = GOOD.replace("  - name: jobs\n", "  - name: jobs\n    config:\n      max_attempts: 0\n")
    with pytest.raises(ScenarioError, match=r"line \d+: .*max_attempts"):
        parse_scenario(text)
    text = GOOD.replace("partitions: 2", "flow: {policy: hope}")
    with pytest.raises(ScenarioError, match="line 6: "):
        parse_scenario(text)


def test_a_file_that_is_not_there_or_not_text_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read"):
        load_scenario(tmp_path / "none.yaml")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="cannot be read"):
        load_scenario(binary)


@pytest.mark.parametrize("text", ["", "just words", "- a\n- b\n", "7"])
def test_something_else_than_a_scenario_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="line 1: "):
        parse_scenario(text)


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        ("{action: delete_topic, topic: a b}",
         "topic must be a name of letters, digits, '.', '_' and '-', not the text 'a b'."),
        ("{action: delete_records, topic: orders, before: {'0': -1}}", "0 must be at least 0, not -1."),
        ("{action: redrive, queue: jobs, rate_per_s: 0.0001}", "rate_per_s must be at least 0.001, not 0.0001."),
    ],
)  # fmt: skip
def test_a_value_out_of_its_range_is_told_in_words(action: str, sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(GOOD + f"schedule:\n  - at_s: 1\n    do: {action}\n")
    assert str(caught.value) == f"scenario, line 27: {sentence}"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("groups: [{name: g, topics: [t], protocol: consumer, assignor: sticky}]", "the broker assigns"),
        ("groups: [{name: g, topics: [t], protocol: newest}]", "newest"),
        ("consumer_heartbeat_interval_ms: 0", "consumer_heartbeat_interval_ms must be at least 1"),
        ("consumer_session_timeout_ms: 0", "consumer_session_timeout_ms must be at least 1"),
    ],
)
def test_what_the_consumer_protocol_does_not_take_is_refused(line: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words) as refused:
        parse_scenario(f"title: T\nabout: T\nuntil_s: 1\ntopics: [{{name: t}}]\n{line}\n")
    assert "line 5" in str(refused.value)


def test_a_group_may_read_the_dead_letters_of_a_queue_whose_name_no_topic_has() -> None:
    """That is how a retry topic is written."""
    text = (
        "title: t\nabout: a\nuntil_s: 9\nqueues: [{name: jobs}]\ngroups: [{name: again, topics: [jobs.dlq]}]\n"
        "topics: [{name: other}]\n"
    )
    assert parse_scenario(text).groups[0].topics == ("jobs.dlq",)
    with pytest.raises(ScenarioError, match=r"'jobs\.dlq' is the topic of a queue's dead letters"):
        parse_scenario(text.replace("other", "jobs.dlq"))
    with pytest.raises(ScenarioError, match=r"no topic 'jobs\.dead'"):
        parse_scenario(text.replace("jobs.dlq", "jobs.dead"))
