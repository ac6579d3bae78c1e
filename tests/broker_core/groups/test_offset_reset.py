"""Resets in all forms: preview first, apply after, only for empty groups."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.groups.offset_reset import Change, Form, Target, preview, resolve, sentence
from tests.broker_core.groups.group_setup import GROUP, GroupSetup


class Logs:
    """Every partition holds offsets 100 to 199, one a second from Unix second 1,000 on."""

    def start_offset(self, topic: str, partition: int) -> int:
        return 100

    def end_offset(self, topic: str, partition: int) -> int:
        return 200

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        found = max(100, 100 + -(-(timestamp_ms - 1_000_000) // 1_000))
        return found if found < 200 else None


COMMITTED = {("g", "t", 0): 150, ("other", "t", 0): 120, ("other", "t", 1): 20}


def committed(group: str, topic: str, partition: int) -> int | None:
    return COMMITTED.get((group, topic, partition))


@pytest.mark.promise("A6")
@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (Target("earliest"), [(150, 100, -50), (None, 100, None)]),
        (Target("latest"), [(150, 200, 50), (None, 200, None)]),
        (Target("offset", offset=160), [(150, 160, 10), (None, 160, None)]),
        (Target("offset", offset=5), [(150, 100, -50), (None, 100, None)]),
        (Target("timestamp", timestamp_ms=1_010_500), [(150, 111, -39), (None, 111, None)]),
        (Target("timestamp", timestamp_ms=9_999_999), [(150, 200, 50), (None, 200, None)]),
        (Target("shift-by", offset=-10), [(150, 140, -10)]),
        (Target("shift-by", offset=-1_000), [(150, 100, -50)]),
        (Target("group", group="other"), [(150, 120, -30), (None, 100, None)]),
        (Target("group", group="nobody"), []),
    ],
)
def test_every_form_says_what_would_change(target, expected):
    changes = preview("g", target, [("t", 1), ("t", 0)], Logs(), committed)
    assert [(each.from_offset, each.to_offset, each.change) for each in changes] == expected
    assert [each.partition for each in changes] == list(range(len(expected)))


@pytest.mark.promise("A6")
@given(
    st.sampled_from(["earliest", "latest", "offset", "timestamp", "shift-by", "group"]),
    st.integers(-(2**63), 2**63 - 1),
    st.none() | st.integers(0, 300),
)
def test_no_form_ever_leaves_the_log(form, number, here):
    target = Target(form, offset=number, timestamp_ms=number, group="other")
    found = resolve(target, "t", 0, Logs(), here, committed)
    assert found is None or 100 <= found <= 200


def test_a_reset_goes_backwards_and_is_an_event():
    setup = GroupSetup()
    (client,) = setup.group_of(1)
    client.commit(500)
    changes = [Change("commits", 0, 500, 20, -480), Change("commits", 1, None, 30, None)]
    with pytest.raises(BrokerError) as caught:
        setup.coordinator.reset(setup.now_ns, GROUP, changes, "to offset 20")
    assert caught.value.code is ErrorCode.NON_EMPTY_GROUP
    client.leave()
    setup.coordinator.reset(setup.now_ns, GROUP, changes, sentence(Target("offset", offset=20)))
    assert setup.coordinator.committed(GROUP, "commits", 0) == 20
    assert setup.coordinator.committed(GROUP, "commits", 1) == 30
    (event,) = setup.kinds(EventKind.OFFSETS_RESET)
    assert (event.group, event.cause, event.count) == (GROUP, "to offset 20", 2)
    assert event.detail == {"changes": [["commits", 0, 500, 20], ["commits", 1, None, 30]]}


def test_a_reset_beyond_the_log_changes_nothing():
    setup = GroupSetup()
    setup.coordinator.commit(0, GROUP, "", -1, {("commits", 0): 9})
    wrong = [Change("commits", 0, 9, 1, -8), Change("commits", 1, None, 1_001, None)]
    with pytest.raises(BrokerError) as caught:
        setup.coordinator.reset(0, GROUP, wrong, "")
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert setup.coordinator.committed(GROUP, "commits", 0) == 9 and setup.kinds(EventKind.OFFSETS_RESET) == []


def test_every_form_has_words():
    words = [sentence(Target(form, offset=-3, timestamp_ms=1_500, group="other")) for form in get_args(Form)]
    assert words == [
        "to the earliest message",
        "to the end",
        "to offset -3",
        "to the Unix time 1.500 s",
        "by -3",
        "to where other is",
    ]


def test_a_form_that_there_is_none_of_is_refused_by_name():
    with pytest.raises(BrokerError, match="form 'newest' must be one of earliest, latest, offset"):
        Target("newest")  # type: ignore[arg-type]
