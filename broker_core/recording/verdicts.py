"""Verdicts on an account: what makes each one false, in sentences, and as JSON for scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from broker_core.events import Event, EventKind
from broker_core.filters.error import Sentence, mark
from broker_core.messages import grouped
from broker_core.recording.account import NOBODY, Account, Again, Row
from resources.account import REASONS, STATES, VERDICTS, VerdictName

#: Keys of messages by offset, of each topic and partition.
Keys = Mapping[tuple[str, int], Mapping[int, bytes]]

#: Why a message in a state is lost.
_LOST = {
    "skipped_by_reader": mark("{place} was skipped by {reader}: it committed beyond it, and was never given it{more}"),
    "expired": mark("{place} has expired before {reader} acknowledged it{more}"),
    "evicted": mark("{place} was evicted before {reader} acknowledged it{more}"),
    "purged": mark("{place} was purged before {reader} acknowledged it{more}"),
    "deleted": mark("{place} was deleted before {reader} had read it{more}"),
}
_GIVEN_AND_DELETED = mark("{place} was delivered to {client} of {group}, and deleted before it was acknowledged{more}")
_NOBODY_HAD = {
    "expired": mark("{place} has expired, and nobody had read it{more}"),
    "evicted": mark("{place} was evicted, and nobody had read it{more}"),
    "purged": mark("{place} was purged, and nobody had read it{more}"),
    "deleted": mark("{place} was deleted, and nobody had read it{more}"),
}


class Finding(NamedTuple):
    """One thing that is wrong, in a sentence, with the events that show it; `place` is its first message.

    A message that two findings of one verdict name is in the `messages` of the first only.
    """

    sentence: Sentence
    life: tuple[Event, ...] = ()
    place: tuple[str, int, int] | None = None  # topic, partition, offset
    reader: str = ""
    messages: int = 1

    @property
    def what(self) -> str:
        return str(self.sentence)


class Order:
    """A sink: first deliveries of messages of a key that do not come in the order of their publishing."""

    def __init__(self, keys: Keys | None = None) -> None:
        """`keys` by offset; None takes those that events tell."""
        self._told: dict[tuple[str, int], dict[int, bytes]] | None = {} if keys is None else None
        self._keys: Keys = self._told if self._told is not None else keys or {}
        self._last: dict[tuple[str, str, bytes], tuple[int, int, int]] = {}
        self._reached: dict[tuple[str, str, int], int] = {}  # offsets, by reader, topic and partition
        self.goes_back = False  # whether a reader was first given a message behind others of its partition
        self.unknown = 0  # messages whose keys no event tells
        self.found: list[Finding] = []

    def __call__(self, event: Event) -> None:
        if event.offset is None or event.partition is None:
            return
        if event.kind is EventKind.PUBLISHED and self._told is not None:
            if event.key is not None:
                self._told.setdefault(event.place, {})[event.offset] = event.key
            else:
                self.unknown += event.count if event.count > 1 else 0
        elif event.kind is EventKind.DELIVERED and event.attempt == 1:
            reached = self._reached.get((event.group, *event.place), 0)
            self.goes_back |= event.offset < reached
            self._reached[event.group, *event.place] = max(reached, event.offsets.stop)
            keys = self._keys.get(event.place, {})
            for offset in event.offsets if keys else ():
                key = keys.get(offset)
                if key is not None:
                    self._judge(event, offset, key)

    def _judge(self, event: Event, offset: int, key: bytes) -> None:
        place = (event.published_ns or 0, event.partition or 0, offset)
        before = self._last.get((event.group, event.topic, key))
        if before is not None and place < before:
            at = (event.topic, event.partition or 0, offset)
            what = Sentence(
                "{place} with key {key} is delivered to {reader} after {later}, which was published later",
                **{"place": _place(*at), "key": repr(key), "later": _place(event.topic, *before[1:])},
                reader=_client_of(event.client, event.group),
            )
            self.found.append(Finding(what, (), at, event.group))
        else:
            self._last[event.group, event.topic, key] = place


def findings(account: Account, order: Order | None = None, by: str = "") -> dict[VerdictName, list[Finding]]:
    """What makes each verdict false; nothing for one that holds. With `by`, only of that reader."""
    rows = [row for row in account.rows() if by in {"", row.reader}]
    return {
        "nothing_lost": [*_lost(rows), *(_beside(account) if not by else ())],
        "nothing_twice": _twice([again for again in account.again if by in {"", again.reader}]),
        "everything_done": _open(rows, by, account.published),
        "commits_are_sound": _unsound(account, by),
        "in_order": [each for each in (order.found if order else ()) if by in {"", each.reader}],
    }


def answer(name: VerdictName, because: Sequence[Finding]) -> Sentence:
    """The sentence of a verdict: its promise if nothing is against it, else how many messages are."""
    if not because:
        return Sentence(VERDICTS[name].words)
    return Sentence(VERDICTS[name].broken, count=sum(each.messages for each in because))


def is_judged(name: VerdictName, order: Order | None) -> bool:
    """Whether the events tell if the verdict holds. Keys that are not recorded matter if a reader went back."""
    return name != "in_order" or (order is not None and bool(order.found or not (order.unknown and order.goes_back)))


def _lost(rows: list[Row]) -> list[Finding]:
    found = []
    for row in rows:
        for state in [state for state in row.counts if STATES[state].loss and row.counts[state]]:
            first = next(place for place in row.places if place.delivery.state == state)
            words = _LOST[state] if row.reader != NOBODY else _NOBODY_HAD[state]
            if state == "deleted" and first.delivery.client:
                words = _GIVEN_AND_DELETED
            at = (row.source, first.partition, first.first)
            who = {"reader": _reader(row), "group": row.reader, "client": first.delivery.client}
            what = Sentence(words, place=_place(*at), more=_more(row.counts[state]), **who)
            found.append(Finding(what, (), at, row.reader, row.counts[state]))
    return found


def _beside(account: Account) -> list[Finding]:
    """Losses that belong to no reader: messages that were never stored, or that are missing in a log."""
    dropped = mark("{messages} for {target} dropped before they were stored, and no producer was told")
    found = [
        Finding(Sentence(dropped, messages=_messages(count), target=target), messages=count)
        for target, count in account.dropped.items()
        if count
    ]
    for topic, partition, first, end in account.missing():
        at = (topic, partition, first)
        told = mark("{place} was never published, between others that were{more}")
        what = Sentence(told, place=_place(*at), more=_more(end - first))
        found.append(Finding(what, (), at, messages=end - first))
    return found


def _twice(again: list[Again]) -> list[Finding]:
    found = grouped(((each.reader, each.source, each.why), each) for each in again if REASONS[each.why].fault)
    told = []
    counted: set[tuple[str, int, int]] = set()
    for (reader, source, why), mine in found.items():
        first = mine[0]
        messages = {(source, each.partition, each.offset + more) for each in mine for more in range(each.messages)}
        at = (source, first.partition, first.offset)
        what = Sentence(
            "{place} may have been handled twice: {before} had it and {why}; {after} was given it again{more}",
            **{"place": _place(*at), "before": _client_of(first.before, reader), "why": Sentence(REASONS[why].about)},
            **{"after": first.after or reader, "more": _more(len(messages))},
        )
        told.append(Finding(what, (first.event,), at, reader, len(messages - counted)))
        counted |= messages
    return told


def _open(rows: list[Row], by: str, published: int) -> list[Finding]:
    found = []
    for row in [row for row in rows if row.open > 0]:
        first = next(place for place in row.places if STATES[place.delivery.state].open)
        at = (row.source, first.partition, first.first)
        if row.reader == NOBODY:
            words = mark("topic {source} has {messages}, and nobody reads it")
        else:
            words = mark("{place} is the first of {messages} that {reader} has not acknowledged ({states})")
        what = Sentence(
            words,
            **{"source": row.source, "place": _place(*at), "messages": _messages(row.open), "reader": _reader(row)},
            states=_states(row),
        )
        found.append(Finding(what, (), at, row.reader, row.open))
    if by and by not in {row.reader for row in rows}:
        found.append(Finding(Sentence("{reader} has read nothing", reader=by), messages=published))
    return found


def _states(row: Row) -> Sentence:
    waiting = Sentence("{count:,} waiting", count=row.counts["waiting"])
    holder = next((place.delivery.client for place in row.places if place.delivery.state == "in_hand"), "")
    words = mark("{count:,} in hand, the first of {client}") if holder else mark("{count:,} in hand")
    in_hand = Sentence(words, count=row.counts["in_hand"], client=holder)
    if row.counts["waiting"] and row.counts["in_hand"]:
        return Sentence("{waiting} and {in_hand}", waiting=waiting, in_hand=in_hand)
    return waiting if row.counts["waiting"] else in_hand


def _unsound(account: Account, by: str) -> list[Finding]:
    found = {}
    for each in [each for each in account.unsound if by in {"", each.reader}]:
        words = mark("{place} was given to its group up to {limit}, and {reader} committed {committed}")
        if each.beyond_end:
            words = mark("{place} ends at {limit}, and {reader} committed {committed}")
        group = Sentence("group {name}", name=each.reader)
        what = Sentence(
            words,
            **{"place": f"{each.source}/{each.partition}", "limit": each.limit, "committed": each.committed},
            reader=_client_of(each.client, group),
        )
        at = (each.source, each.partition, each.limit)
        found[str(what)] = Finding(what, (each.event,), at, each.reader, each.committed - each.limit)
    return list(found.values())


def not_known(account: Account, order: Order | None = None) -> list[Sentence]:
    """What the events cannot tell, in sentences for the reader of a report."""
    words = mark("Group {group} was read by a program that is not known to be in it: what it was given is not judged.")
    told = [Sentence(words, group=group) for group in sorted(account.outside)]
    if account.gaps:
        words = mark("1 time the broker was not seen for a while: what it did then is missing.")
        if account.gaps > 1:
            words = mark("{count} times the broker was not seen for a while: what it did then is missing.")
        told.append(Sentence(words, count=account.gaps))
    if order is not None and order.unknown:
        words = mark("The keys of {messages} are not recorded: their order is not judged.")
        told.append(Sentence(words, messages=_messages(order.unknown)))
    return told


def as_json(account: Account, order: Order | None, unknown: list[str], *, judged: bool = True) -> dict[str, Any]:
    """The account and its verdicts for scripts; `holds` and `answer` are None where nothing is judged."""
    found = findings(account, order)
    known = {name: judged and is_judged(name, order) for name in VERDICTS}
    return {
        "readers": [_row_json(row) for row in account.rows()],
        "verdicts": {
            name: {
                "holds": not found[name] if known[name] else None,
                "answer": str(answer(name, found[name])) if known[name] else None,
                "because": [finding.what for finding in found[name]],
            }
            for name in VERDICTS
        },
        "delivered_again": [_again_json(again) for again in account.again],
        "fetched_again": [_again_json(again) for again in account.fetched_again],
        "not_known": [*unknown, *map(str, not_known(account, order))],
    }


def _row_json(row: Row) -> dict[str, Any]:
    counts = row.counts
    return {
        **{"source": row.source, "partition": None, "reader": row.reader, "published": row.published},
        "redriven": row.redriven,
        **{name: counts[name] for name in ("waiting", "in_hand", "acknowledged")},
        "skipped": {
            "by a reset": counts["skipped_by_reset"],
            "by its reader": counts["skipped_by_reader"],
            "before it began": counts["before_it_began"],
        },
        **{name: counts[name] for name in ("dead_lettered", "aborted", "expired", "evicted", "purged")},
        **{"deleted": counts["deleted"] + counts["compacted"], "lost": row.lost},
    }


def _again_json(again: Again) -> dict[str, Any]:
    shown = {name: getattr(again, name) for name in again._fields[:-1]}
    return {"count" if name == "messages" else name: value for name, value in shown.items()}


def _reader(row: Row) -> Sentence:
    return Sentence(mark("queue {name}") if row.is_queue else mark("group {name}"), name=row.reader)


def _client_of(client: str, reader: object) -> Sentence:
    return Sentence(mark("{client} of {reader}") if client else "{reader}", client=client, reader=reader)


def _messages(count: int) -> Sentence:
    return Sentence("{count:,} messages", count=count) if count != 1 else Sentence("1 message")


def _place(topic: str, partition: int, offset: int) -> str:
    return f"{topic}/{partition} @{offset}"


def _more(messages: int) -> Sentence | str:
    return Sentence(", with {count} more", count=messages - 1) if messages > 1 else ""
