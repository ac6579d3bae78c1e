"""A commit of what is not there, or was never given, is told at once."""

from __future__ import annotations

import pytest

from broker_core.broker.group_offsets import Committer
from broker_core.events import EventKind
from broker_core.recording.account import Account
from broker_core.recording.verdicts import findings
from tests.broker_core.clients.virtual_broker import VirtualBroker

TOO_FAR = "commits/0 was given to its group up to 1, and c of group g committed 3"


@pytest.mark.parametrize(
    ("read", "committed", "told"),
    [
        (3, 3, []),
        (3, 5, [("beyond the end", 2, "commits/0 ends at 3, and c of group g committed 5")]),
        (1, 3, [("beyond what was given", 2, TOO_FAR)]),
    ],
    ids=["what was read", "beyond the end", "beyond what was given"],
)
def test_it_is_told_at_once(read: int, committed: int, told: list[tuple[str, int, str]]):
    virtual = VirtualBroker(1)
    account = Account()
    for event in virtual.events:
        account(event)
    virtual.stream.attach(account)
    virtual.publish(b"a", b"b", b"c")
    place = ("commits", 0)
    virtual.broker.fetches.fetch(0, "g", "c", {place: 0}, max_messages=read, deadline_ns=0, member="@c").result()
    virtual.broker.offsets.commit(0, "g", Committer.of("c"), {place: committed}, backwards=True)
    events = [(event.cause, event.count) for event in virtual.kinds(EventKind.COMMIT_BEYOND)]
    assert events == [(cause, count) for cause, count, _ in told]
    assert [each.what for each in findings(account)["commits_are_sound"]] == [what for _, _, what in told]
    virtual.publish(b"d", b"e")
    (row,) = account.rows()
    assert row.counts["skipped_by_reader"] == max(0, committed - read)
