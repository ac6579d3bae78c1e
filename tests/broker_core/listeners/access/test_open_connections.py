"""Who is cut when too many connections are open, or hold too much."""

from __future__ import annotations

from broker_core.listeners.access.limits import Budget, GuardConfig
from broker_core.listeners.access.open_connections import OpenConnections


class HeldConnection:
    """Holds bytes of the budget until it is cut, as `LimitedConnection` says."""

    def __init__(self, connections: OpenConnections[HeldConnection], held_bytes: int = 0, *, is_known: bool = False):
        self.held_bytes, self.is_known, self.causes = held_bytes, is_known, list[str]()
        self._open = connections
        connections.budget.bytes += held_bytes
        connections.add(self)

    def cut(self, why: str) -> None:
        self.causes.append(why)
        self._open.budget.bytes -= self.held_bytes
        self.held_bytes = 0
        self._open.remove(self)


def test_the_oldest_stranger_makes_room_and_one_connection_in_ten_is_kept_for_the_known():
    connections = OpenConnections[HeldConnection](10, Budget(GuardConfig()))
    strangers = [HeldConnection(connections) for _ in range(9)]
    connections.authenticated(strangers[0])
    made = [HeldConnection(connections), HeldConnection(connections, is_known=True)]
    assert [bool(each.causes) for each in strangers + made] == [False, True] + 9 * [False]
    HeldConnection(connections)
    assert [bool(each.causes) for each in strangers + made] == [False, True, True] + 8 * [False]
    assert len(connections.all) == 10


def test_where_all_are_known_the_newest_is_cut():
    connections = OpenConnections[HeldConnection](2, Budget(GuardConfig()))
    made = [HeldConnection(connections, is_known=True) for _ in range(3)]
    assert [bool(each.causes) for each in made] == [False, False, True]


def test_those_that_hold_the_most_are_cut_until_the_budget_suffices():
    connections = OpenConnections[HeldConnection](10, Budget(GuardConfig(max_buffered_bytes=100)))
    made = [HeldConnection(connections, held_bytes, is_known=True) for held_bytes in (60, 30, 70)]
    connections.make_room()
    assert [bool(each.causes) for each in made] == [False, False, True]
    assert connections.budget.bytes == 90
