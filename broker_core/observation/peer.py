"""The interface between an observed session and the program it observes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from broker_core.events import Event
from broker_core.operations.request import Request
from broker_core.snapshots import ConnectionView, Snapshot

T = TypeVar("T")

#: What a source may know beside topics, partitions, groups and their offsets. Code that shows such a figure calls
#: `knows` first.
KNOWABLE: Final = (
    "messages", "segments", "deliveries", "leases", "requests", "connections", "backpressure", "schemas", "access",
)  # fmt: skip


class Look(NamedTuple):
    """The events since the last poll, and the state after them. The session numbers the events.

    Times are nanoseconds since `Peer.open`, those of what happened before it are negative; totals count from there.
    `gap` says in a sentence that more has happened, right before `events`, than they tell; "" if they tell all.
    `connections` are those of the broker's clients, if they are known.
    """

    events: Sequence[Event]
    snapshot: Snapshot
    gap: str = ""
    connections: Sequence[ConnectionView] = ()


class PeerFacts(NamedTuple):
    """How a source is looked at: what it calls itself, how often, and what a look costs the observer, in seconds.

    `listens` is where its clients connect if they are passed on to it, "" if they are not; `rights` is whose rights
    they have there, "" for each its own. `away_s` is for how long nothing of it has answered a look.
    """

    name: str
    period_s: float
    look_s: float
    listens: str = ""
    rights: str = ""
    away_s: float = 0.0


class Peer(Protocol):
    """A broker elsewhere. `open` and `look` are called in the observer's thread, the others in any."""

    address: str
    epoch_ms: int  # the Unix time of session time 0, by the broker's clock; known once it is open

    def open(self) -> Snapshot:
        """The state at time 0, before the first event. Raises `BrokerError` within 10 s."""

    def look(self) -> Look | None:
        """New events and state; None if there are none. Blocks for at most a second, and is called repeatedly.

        Raises `BrokerError` where the source cannot be reached or asked now: `look` is called again a second later.
        """

    @property
    def hosts(self) -> Sequence[str]:
        """The names and addresses of its hosts that are known now."""

    def ask(self, request: Request[T]) -> T:
        """The answer, with times as in `Look`. Raises `BrokerError`."""

    def why_not(self, request: type[Request[Any]]) -> str:
        """Why a kind of request of the catalogue cannot be served from here, in a sentence; "" if it can."""

    def knows(self, word: str) -> bool:
        """Whether figures of this word of `KNOWABLE` are known."""

    @property
    def facts(self) -> PeerFacts:
        """What is known of the peer as of the last look."""

    def close(self) -> None:
        """Disconnect; a `look` that waits ends soon."""

    def rest(self) -> Look | None:
        """A last look, after `close`: what was seen until then and not told by `look`; None if there is nothing."""
