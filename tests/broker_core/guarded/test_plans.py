"""Plans are values: an undo is exact, progress survives its commit, and a letter is judged the same each time."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.guarded.offsets import CommittedOffsets, OffsetChange, OffsetsPlan, changes_of, unchanged, why_stale
from broker_core.guarded.redrive import (
    HEADER,
    MOST_TIMES,
    Choice,
    LetterJudge,
    LettersTo,
    RedriveCopy,
    RedriveProgress,
    previewed,
    redrive_changes,
    run_of,
    source_of,
    times_redriven,
)
from broker_core.log.partitioners import murmur2_partition
from broker_core.messages import OffsetAndMetadata, StoredMessage, TopicPartition
from broker_core.runs import Runs
from tests.long_form import examples


def after(state: CommittedOffsets, changes: Iterable[OffsetChange]) -> dict[TopicPartition, OffsetAndMetadata]:
    """What is committed once the changes are made."""
    found = dict(state)
    for each in changes:
        if each.new is None:
            found.pop(each.place, None)
        else:
            found[each.place] = each.new
    return found


PLACES = st.tuples(st.sampled_from(["orders", "payments", "mail"]), st.integers(0, 5))
COMMITTED = st.builds(OffsetAndMetadata, st.integers(0, 1 << 40), st.text(max_size=9), st.integers(-1, 9))


@pytest.mark.promise("48")
@settings(max_examples=examples(1_000), deadline=None)
@given(st.dictionaries(PLACES, COMMITTED), st.dictionaries(PLACES, st.integers(0, 1 << 40)))
def test_an_undo_puts_back_exactly_what_was(state, wanted):
    plan = OffsetsPlan(
        cluster="c", group="g", says="to there", changes=changes_of(state, wanted), before=unchanged(state)
    )
    there = after(state, plan.changes)
    assert {place: there[place].offset for place in wanted} == wanted
    back = plan.undo()
    # It holds exactly as long as nobody has committed since.
    topics = {each.topic: "" for each in plan.changes}
    assert why_stale(back, there, (), "c", topics, {}) == []
    assert after(there, back.changes) == state == after({}, plan.before)
    # It comes back whole from where it is kept.
    assert msgspec.json.decode(msgspec.json.encode(plan), type=OffsetsPlan) == plan
    for each in plan.changes:
        moved = {**there, each.place: OffsetAndMetadata(there[each.place].offset + 1)}
        assert len(why_stale(back, moved, (), "c", topics, {})) == 1


def test_a_plan_of_offsets_says_what_has_changed():
    state = {("orders", 0): OffsetAndMetadata(5), ("orders", 1): OffsetAndMetadata(7)}
    changes = changes_of(state, {("orders", 0): 2, ("orders", 1): 9})
    plan = OffsetsPlan(cluster="c", group="shop", says="", changes=changes, topics={"orders": "a"})
    assert (plan.read_again, plan.skipped) == (3, 2)
    assert why_stale(plan, state, (), "c", {"orders": "a"}, {("orders", 1): (0, 9)}) == []
    for told, arguments in {
        "shop has 1 member: w-1; stop them first": (state, ("w-1",), "c", {"orders": "a"}, {}),
        "this is the cluster d": (state, (), "d", {"orders": "a"}, {}),
        "made anew": (state, (), "c", {"orders": "b"}, {}),
        "the topic orders is gone": (state, (), "c", {}, {}),
        "shop is at 6 in orders/0, it was at 5": (
            {**state, ("orders", 0): OffsetAndMetadata(6)},
            (),
            "c",
            {"orders": "a"},
            {},
        ),
        "shop is at 5 in orders/0, committed again since": (
            {**state, ("orders", 0): OffsetAndMetadata(5, "by hand")},
            (),
            "c",
            {"orders": "a"},
            {},
        ),
        "this is a broker, and the plan is of the cluster c": (state, (), "", {"orders": "a"}, {}),
        "there is no 9": (state, (), "c", {"orders": "a"}, {("orders", 1): (0, 8)}),
    }.items():
        (said,) = why_stale(plan, *arguments)
        assert told in said


OFFSETS = st.sets(st.integers(0, 5_000), max_size=200)


@given(OFFSETS, OFFSETS)
def test_progress_survives_its_commit(done, sending):
    text = RedriveProgress(run_of(sorted(done)), run_of(sorted(sending))).encoded()
    found = RedriveProgress.decoded(text, "here")
    assert list(found.done) == list(run_of(sorted(done)))
    assert list(found.sending) == list(run_of(sorted(sending)))
    assert found.offset == max(done, default=-1) + 1


@pytest.mark.parametrize("text", ["", "hello", "2 abc", "1 ~", "1 a b c", "1 abcde"])
def test_what_another_program_has_committed_is_no_progress(text):
    with pytest.raises(BrokerError) as failed:
        RedriveProgress.decoded(text, "orders-dlt/0")
    assert failed.value.code is ErrorCode.DAMAGED


def letter(offset: int, *, times: int = 0, topic: str = "orders", partition: int = 1, key: bytes | None = b"k"):
    headers = [("kafka_dlt-original-topic", topic.encode()), ("a", b"1")]
    headers += [("kafka_dlt-original-partition", partition.to_bytes(4, "big"))]
    if times:
        headers.append((HEADER, f"{times} orders-dlt/0@1".encode()))
    return StoredMessage("orders-dlt", 0, offset, 1_000 + offset, 0, key, b"v", tuple(headers))


def judge(choice: Choice | None = None, done: Runs[bool] | None = None) -> LetterJudge:
    partitions = {"orders": 3, "other": 2, "orders-dlt": 1}
    return LetterJudge(
        choice or Choice(topic="orders-dlt"),
        {0: done or Runs()},
        None,
        lambda name: partitions.get(name, 0),
        lambda _topic, key, count: murmur2_partition(key, count),
    )


def test_a_copy_has_key_value_headers_and_time_of_its_letter_and_says_what_redrove_it():
    found = judge().judge(letter(4))
    assert isinstance(found, RedriveCopy)
    assert (found.topic, found.partition, found.source) == ("orders", 1, 4)
    copy = found.message
    assert (copy.key, copy.value, copy.timestamp_ms) == (b"k", b"v", 1_004)
    assert copy.headers == (*letter(4).headers, (HEADER, b"1 orders-dlt/0@4"))
    assert (times_redriven(copy), source_of(copy)) == (1, "orders-dlt/0@4")
    again = judge(Choice(topic="orders-dlt", again=True)).judge(letter(5, times=1))
    assert isinstance(again, RedriveCopy) and times_redriven(again.message) == 2
    assert [name for name, _ in again.message.headers].count(HEADER) == 1


@pytest.mark.parametrize(
    ("stays", "asked", "one"),
    [
        ("filtered", Choice(topic="orders-dlt", places=((0, 9),)), letter(4)),
        ("redriven", Choice(topic="orders-dlt"), letter(2)),
        ("failed again", Choice(topic="orders-dlt"), letter(4, times=1)),
        ("looping", Choice(topic="orders-dlt", again=True), letter(4, times=MOST_TIMES)),
        ("without origin", Choice(topic="orders-dlt"), letter(4, topic="gone")),
        ("without origin", Choice(topic="orders-dlt"), letter(4, topic="orders-dlt")),
    ],
)
def test_what_stays_and_why(stays, asked, one):
    assert judge(asked, run_of([2])).judge(one) == stays


def test_where_a_letter_goes_whose_partition_is_gone_or_that_goes_elsewhere():
    assert judge().judge(letter(1, partition=7)).partition == murmur2_partition(b"k", 3)
    assert judge().judge(letter(1, partition=7, key=None)).partition == 0
    elsewhere = judge(Choice(topic="orders-dlt", to="other")).judge(letter(1))
    assert not isinstance(elsewhere, str) and (elsewhere.topic, elsewhere.partition) == (
        "other",
        murmur2_partition(b"k", 2),
    )


def planned(letters, *, done=None, partitions=3, schema="", rate=100.0):
    choice, runs = Choice(topic="orders-dlt"), done or Runs()
    return previewed(
        judge(choice, runs),
        {0: (0, 10)},
        lambda *_span: letters,
        lambda name, counts: LettersTo(name, counts, partitions, schema),
        cluster="c",
        rate_per_s=rate,
        transactional=True,
    )


def test_a_plan_of_a_redrive_says_what_has_changed():
    before = planned([letter(0), letter(1), letter(2, times=1)])
    assert (before.letters, before.stays) == (2, {"failed again": 1})
    assert before.targets == (LettersTo("orders", {1: 2}, 3),)
    assert redrive_changes(before, planned([letter(0), letter(1), letter(2, times=1)])) == []
    assert redrive_changes(before, planned([letter(0), letter(1)], done=run_of([0])))[0].startswith("1 letter of")
    assert redrive_changes(before, planned([letter(0), letter(1)], partitions=4)) == [
        "orders has 4 partitions, it had 3"
    ]
    assert "newest schema" in redrive_changes(before, planned([letter(0), letter(1)], schema="orders-value 2"))[0]


@pytest.mark.parametrize("rate", [0.0, -1.0, float("inf"), float("nan")])
def test_a_plan_of_a_redrive_without_a_rate_does_not_hold(rate):
    """For whatever carries it out: the broker, or a connection to a cluster."""
    plan = planned([letter(0)], rate=rate)
    with pytest.raises(BrokerError) as refused:
        redrive_changes(plan, plan)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_letters_too_scattered_to_be_remembered_are_refused():
    import random

    chance = random.Random(4)
    with pytest.raises(BrokerError, match="too scattered"):
        planned([letter(offset) for offset in range(200_000) if chance.random() < 0.5])
