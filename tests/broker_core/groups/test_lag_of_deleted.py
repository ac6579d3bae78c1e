"""A group's lag counts messages that are there: none below the beginning of the log."""

from __future__ import annotations

import msgspec

from broker_core.broker.group_offsets import Committer
from tests.broker_core.clients.virtual_broker import VirtualBroker
from tests.broker_core.recording.folded import fold


def test_what_was_deleted_is_no_lag_live_and_folded():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b", b"c", b"d", b"e")
    virtual.broker.offsets.commit(0, "g", Committer.of("c"), {("commits", 0): 0}, backwards=True)
    before = msgspec.structs.replace(virtual.broker.snapshot(0), events=len(virtual.events))
    known = len(virtual.events)
    virtual.broker.cleaning.delete_records(0, "commits", 0, 5)
    virtual.publish(b"f")
    after = virtual.broker.snapshot(0)
    assert [(at.committed, at.lag) for at in after.groups[0].offsets] == [(0, 1)]
    folded = fold(before, virtual.events[known:], time_ns=0)
    assert folded.groups[0].offsets == after.groups[0].offsets
