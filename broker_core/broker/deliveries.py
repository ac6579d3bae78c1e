"""Where the messages of one partition are for one reader, by what was given, acknowledged, given back and reset.

The broker asks it what is delivered again; the account of a recording counts with it. `resources.account` has the
words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from broker_core.events import FETCHED_AGAIN
from broker_core.runs import Runs
from resources.account import ACKNOWLEDGED, BESIDE, NACKED, RESET

MOST_RUNS = 10_000  # beyond, it is forgotten who acknowledged what first


class DeliveryState(NamedTuple):
    """Last reader (client, member id; "" for none) and why a waiting message was returned."""

    state: str
    client: str = ""
    member: str = ""
    why: str = ""


class GivenPart(NamedTuple):
    """Offsets that were given. `again` is "" for the first time, FETCHED_AGAIN, or a word of `REASONS`; `before` the
    client that had them last."""

    first: int
    end: int
    again: str = ""
    before: str = ""


_ACKNOWLEDGED = DeliveryState("acknowledged")
_GIVEN = frozenset({"in_hand", "waiting"})
_UNCOVERED = frozenset({"acknowledged", "skipped_by_reset", "skipped_by_reader", "aborted"})  # by a reset backwards


class Deliveries:
    """What a reader has done with each message. Offsets in no run wait, or lie before `begin` or `committed`."""

    __slots__ = ("_acknowledged", "_held", "begin", "committed", "given_end", "log_start", "runs")

    def __init__(self, begin: int | None = None, committed: int | None = None) -> None:
        """`begin` is where the reader began, `committed` what a group has committed; None for not yet."""
        self.begin = begin
        self.committed = committed
        self.given_end = 0  # of the furthest delivery
        self.log_start = 0
        self.runs: Runs[DeliveryState] = Runs()
        # The last ones, which are made once.
        self._held, self._acknowledged = DeliveryState("in_hand"), DeliveryState("acknowledged")

    @classmethod
    def of_group(cls, committed: int | None) -> Deliveries:
        """For a group that has committed before: all messages before `committed` count as acknowledged."""
        found = cls(0 if committed else None, committed)
        found.set_final_state(0, committed or 0, "acknowledged")
        return found

    # -- what is given

    def give(
        self, first: int, end: int, client: str, member: str, *, lost: str = "", attempt: int = 0
    ) -> list[GivenPart]:
        """Records a delivery; returns its parts, with the reason where one is a redelivery.

        `lost` is the reason if the member no longer owns the partition; `attempt` > 1 is a redelivery, too.
        """
        held = self._held
        if lost or held.member != member or held.client != client:
            held = self._held = DeliveryState("in_hand", client, member)
        if lost:
            held = DeliveryState("waiting", client, member, lost)
        if self.begin is None or first < self.begin:
            self.begin = first
        self.given_end = max(self.given_end, end)
        done = self.committed or 0
        if first >= done and first >= self.runs.end:
            self.runs.put(first, end, held)
            return [GivenPart(first, end, NACKED if attempt > 1 else "")]
        parts: list[GivenPart] = []
        for low, high, delivery in self.runs.split(first, end):
            below = min(high, max(low, done))
            for start, stop in ((low, below), (below, high)):
                if start < stop:
                    again = self._again(delivery, member) or (NACKED if attempt > 1 else "")
                    _join(parts, GivenPart(start, stop, again, delivery.client if delivery and again else ""))
            self.runs.put(low, below, DeliveryState("acknowledged", client, member))
            self.runs.put(below, high, held)
        return parts

    @staticmethod
    def _again(delivery: DeliveryState | None, member: str) -> str:
        if delivery is None:
            return ""
        usual = {"in_hand": FETCHED_AGAIN if delivery.member == member else BESIDE, "acknowledged": ACKNOWLEDGED}
        return delivery.why or usual.get(delivery.state, "") if delivery.state in {*usual, "waiting"} else ""

    def pass_over(self, first: int, end: int) -> None:
        """Aborted messages, which the reader is not given."""
        self.begin = first if self.begin is None else min(self.begin, first)
        self.given_end = max(self.given_end, end)
        self.runs.put(first, end, DeliveryState("aborted"))

    def begin_at(self, offset: int) -> None:
        """The reader begins at `offset`, having committed nothing. What it passes by, beginning anew, it skips."""
        if self.begin is None:
            for first, end, delivery in self.runs.split(0, offset):
                if delivery is not None and not delivery.client:
                    self.runs.remove(first, end)  # it was deleted before anybody wanted it
            self.begin = offset
            return
        for first, end, delivery in self.runs.split(min(self.begin, offset), offset):
            if delivery is None or delivery.state == "waiting":
                self.runs.put(first, end, DeliveryState("skipped_by_reader", *(delivery[1:3] if delivery else ())))
        self.begin = min(self.begin, offset)

    # -- what becomes of it

    def acknowledge(self, first: int, end: int) -> None:
        """A group has committed up to `end`; `first` is the first message of these that the log still has. What was
        given before it, and compaction has removed since, is committed, too.
        """
        begin = self.begin if self.committed is None else self.committed
        first = first if begin is None else min(first, begin)
        whole = self.runs.around(first, end)
        for low, high, delivery in self.runs.split(first, end) if whole is None else ((first, end, whole),):
            if delivery is not None and delivery.state in _GIVEN:
                done = self._acknowledged
                if done.member != delivery.member or done.client != delivery.client:
                    done = self._acknowledged = DeliveryState("acknowledged", delivery.client, delivery.member)
                self.runs.put(low, high, done)
        if self.begin is None:
            self.begin = first
        self.committed = max(self.committed or 0, end)
        if len(self.runs) > MOST_RUNS:
            for low, high, delivery in [run for run in self.runs if run[2].state == "acknowledged"]:
                self.runs.put(low, high, _ACKNOWLEDGED._replace(client=delivery.client and "?"))

    def set_final_state(self, first: int, end: int, state: str) -> None:
        """Sets a final state, as "acknowledged" or "expired"."""
        self.runs.put(first, end, DeliveryState(state))

    def give_back(self, first: int, end: int, why: str) -> None:
        """Their holder has lost them unacknowledged."""
        for low, high, delivery in self.runs.split(first, end):
            if delivery is not None and delivery.state == "in_hand":
                gone = min(high, max(low, self.log_start))
                self.runs.put(low, gone, delivery._replace(state="deleted", why=why))
                self.runs.put(gone, high, delivery._replace(state="waiting", why=why))

    def lose(self, member: str, why: str) -> bool:
        """`member` is no owner any more; "" for nobody is. False if it had nothing in hand."""
        held = [run for run in self.runs if run[2].state == "in_hand" and member in {"", run[2].member}]
        for first, end, _ in held:
            self.give_back(first, end, why)
        return bool(held)

    def bring_back(self, first: int, end: int, why: str = "") -> None:
        """Makes them undelivered, those before it began too; with `why`, acknowledged ones wait again."""
        for low, high, delivery in self.runs.split(first, end):
            if delivery is not None and why and delivery.state == "acknowledged":
                self.runs.put(low, high, DeliveryState("waiting", delivery.client, delivery.member, why))
            else:
                self.runs.remove(low, high)
                self.runs.put(low, min(high, self.begin or 0), DeliveryState("waiting"))

    def delete(self, end: int) -> None:
        """The log begins at `end`. What is in hand may still be acknowledged."""
        for first, stop, delivery in self.runs.split(max(self.begin or 0, self.committed or 0, self.log_start), end):
            if delivery is None:
                self.runs.put(first, stop, DeliveryState("deleted"))
        for first, stop, delivery in list(self.runs):
            if first < end and delivery.state == "waiting":
                self.runs.put(first, min(stop, end), delivery._replace(state="deleted"))
        self.log_start = max(self.log_start, end)

    def reset(self, old: int | None, new: int, *, owner: str = "", outside: bool = False) -> None:
        """The committed offset is moved from `old`: by a commit of its `owner`, or by somebody else; `outside`, by who
        has read without being known.
        """
        base = old if old is not None else self.begin or 0
        for first, end, delivery in self.runs.split(base, new) if new > base else ():
            if delivery is None or (delivery.state in _GIVEN and not outside):
                self.runs.put(first, end, DeliveryState("skipped_by_reset", *(delivery[1:3] if delivery else ())))
            elif delivery.state in _GIVEN:
                self.runs.put(first, end, delivery._replace(state="acknowledged", why=""))
        for first, end, delivery in self.runs.split(new, base) if new < base else ():
            if delivery is None or delivery.state not in _UNCOVERED:
                continue
            if not delivery.client:
                self.runs.remove(first, end)
            elif owner and delivery.member == owner:
                self.runs.put(first, end, delivery._replace(state="in_hand"))
            else:
                self.runs.put(first, end, delivery._replace(state="waiting", why=ACKNOWLEDGED if owner else RESET))
        self.begin = min(base if self.begin is None else self.begin, new if new < base else base)
        self.committed = new

    def pass_by(self, old: int | None, new: int, aborted: Iterable[tuple[int, int]]) -> None:
        """What was `aborted` is not what the reset from `old` to `new` skips, unless the reader takes such."""
        base = old if old is not None else self.begin or 0
        passed = [(max(first, base), min(end, new)) for first, end in aborted if first < new and base < end]
        for first, end in () if not passed or self._takes(aborted) else passed:
            for low, high in self.runs.gaps(first, end):
                self.runs.put(low, high, DeliveryState("aborted"))

    def _takes(self, aborted: Iterable[tuple[int, int]]) -> bool:
        """Whether the reader was given any of what was `aborted`."""
        found = (delivery for span in aborted if span[0] < self.given_end for _, _, delivery in self.runs.split(*span))
        return any(delivery is not None and bool(delivery.client) for delivery in found)

    def forget(self) -> None:
        """Somebody has deleted the committed offset: what is delivered from its beginning on is so by a reset."""
        for first, end, delivery in self.runs.split(self.begin or 0, self.committed or 0):
            if delivery is None:
                self.runs.put(first, end, DeliveryState("skipped_by_reader"))
            elif delivery.state == "acknowledged":
                self.runs.put(first, end, delivery._replace(why=RESET))
        self.committed = None

    # -- counting

    @property
    def keeps_offsets_elsewhere(self) -> bool:
        """Whether the reader has read messages but has never committed an offset here."""
        return self.committed is None and len(self.runs) > 0

    def places(
        self, published: Runs[bool], aborted: Iterable[tuple[int, int]] = (), *, compacts: bool = False
    ) -> list[tuple[int, int, DeliveryState]]:
        """(first, end, state) of every message of the log, in order; `aborted` ranges are passed over, unless the
        reader takes such. What a log that `compacts` never gave is taken for removed.
        """
        dead: Runs[bool] = Runs()
        for first, end in () if self._takes(aborted) else aborted:
            dead.put(first, end, True)
        passed = max(self.committed or 0, self.given_end if compacts else 0)
        began = self.begin or 0
        found = []
        for start, stop, _ in published:
            for first, end, delivery in self.runs.split(start, stop):
                if delivery is not None:
                    found.append((first, end, delivery))
                    continue
                for low, high, state in (
                    (first, min(end, began), "before_it_began"),
                    (max(first, began), min(end, passed), "compacted" if compacts else "skipped_by_reader"),
                    (max(first, began, passed), end, "waiting"),
                ):
                    if low < high:
                        for at, upto, is_dead in dead.split(low, high):
                            gone = is_dead and state != "before_it_began"
                            found.append((at, upto, DeliveryState("aborted" if gone else state)))
        return found


def _join(parts: list[GivenPart], new: GivenPart) -> None:
    if parts and parts[-1].end == new.first and parts[-1][2:] == new[2:]:
        parts[-1] = parts[-1]._replace(end=new.end)
    else:
        parts.append(new)
