"""What is known of a partition from elsewhere."""

from __future__ import annotations

from types import SimpleNamespace

from broker_core.listeners.between.seen_logs import WAIT_NS, Batch, SeenLog, aborted_spans


def test_the_furthest_end_that_others_tell_counts():
    """Also one that is told while another waits: the last look at a cluster has no successor."""
    log = SeenLog(("orders", 0), 3, lambda _place, _offset: None)
    log.ends(5, 0, None)
    log.ends(8, 1, None)
    log.ends(6, 2, None)
    assert [(each.start, each.messages) for each in log.settled(WAIT_NS)] == [(3, 5)]


def test_of_one_producer_two_aborted_transactions_in_a_response_are_both_found():
    def batch(start: int, messages: int, *, is_control: bool = False) -> Batch:
        return Batch(start, messages, 100, start, 7, is_control, is_transactional=True, is_commit=False)

    batches = [batch(0, 5), batch(5, 1, is_control=True), batch(6, 5), batch(11, 1, is_control=True), batch(12, 3)]
    aborted = [SimpleNamespace(producer_id=7, first_offset=first) for first in (0, 6)]
    assert aborted_spans(batches, aborted) == [range(5), range(6, 11)]
