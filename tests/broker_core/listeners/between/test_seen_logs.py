"""What is known of a partition from elsewhere."""

from __future__ import annotations

from broker_core.listeners.between.seen_logs import WAIT_NS, SeenLog


def test_the_furthest_end_that_others_tell_counts():
    """Also one that is told while another waits: the last look at a cluster has no successor."""
    log = SeenLog(("orders", 0), 3, lambda _place, _offset: None)
    log.ends(5, 0, None)
    log.ends(8, 1, None)
    log.ends(6, 2, None)
    assert [(each.start, each.messages) for each in log.settled(WAIT_NS)] == [(3, 5)]
