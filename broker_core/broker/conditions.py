"""Waiting for a condition in the filter language, on the state of the broker or on what happens in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from broker_core.broker.occurrences import (
    EVERYWHERE,
    BrokerState,
    Occurrence,
    Parts,
    lag_of,
    named_things,
    occurrences,
    tester,
)
from broker_core.broker.occurrences import FIELDS as OCCURRENCE_FIELDS
from broker_core.events import Event, EventKind, EventStream
from broker_core.filters import Field, Fields, Filter
from broker_core.filters.field import called, field_and_argument
from broker_core.groups.states import GroupState
from broker_core.log.partition_log import PartitionLog
from broker_core.operations.observe import ConditionAnswer
from broker_core.plurals import counted
from broker_core.replies import Reply
from broker_core.snapshots import GroupView, ShareGroupView
from broker_core.timers import Timer, Timers

#: The fields of what is as it is now, by kind.
STATE_FIELDS: Mapping[str, tuple[str, ...]] = {
    "group": ("kind", "group", "topic", "client", "state", "members", "generation", "lag", "time"),
    "queue": ("kind", "group", "topic", "ready", "in_flight", "dead", "depth", "lag", "time"),
    "topic": ("kind", "topic", "messages", "committed", "time"),
    "share_group": ("kind", "group", "topic", "client", "state", "members", "in_flight", "lag", "time"),
}
FIELDS = Fields(
    (
        *OCCURRENCE_FIELDS,
        Field(
            "kind",
            "text",
            "What the condition is about: the state of a group, queue, topic or share group, or an event (published, "
            "fault...).",
            words=(*STATE_FIELDS, *EventKind),
        ),
        Field(
            "state",
            "text",
            "The state of a group: Stable, Empty, PreparingRebalance, CompletingRebalance.",
            "billing",
            tuple(GroupState),
        ),
        Field("messages", "number", "Messages in a topic."),
        Field("committed", "number", "Messages in a topic that readers of committed messages get."),
    )
)
_OF_EVENTS = frozenset(field.name for field in OCCURRENCE_FIELDS)
_STATE = frozenset((*EVERYWHERE, *(name for names in STATE_FIELDS.values() for name in names)))
_LINES = 12  # of the state in words

Row = dict[str, Any]


class _Waiting(msgspec.Struct):
    condition: Filter
    timer: Timer
    #: None if the condition is about the state alone.
    happens: Callable[[Occurrence], bool] | None


class Conditions:
    """A condition holds if a group, queue or topic fits it as it is now, or an event and the state right after it.

    What is as it is now has the kinds of `STATE_FIELDS`. A group's lag is that in all its topics; it is
    none while members have not begun to read a partition that holds messages. Looked at after each event, and after
    each call of the host, because not every change is an event.
    """

    def __init__(self, broker: Parts, events: EventStream, timers: Timers) -> None:
        self._broker = broker
        self._state = BrokerState(broker)
        self._events = events
        self._timers = timers
        self.waiting: dict[Reply[ConditionAnswer], _Waiting] = {}
        self._news: list[Event] = []
        self._looks = False  # soon

    def wait(self, now_ns: int, condition: Filter, deadline_ns: int) -> Reply[ConditionAnswer]:
        """Settled at once where something fits, when something does, or at `deadline_ns`."""
        fitting = self._fitting(now_ns, condition)
        if fitting:
            return Reply.of(ConditionAnswer(holds=True, what=fitting))
        reply: Reply[ConditionAnswer] = Reply()
        timer = self._timers.at_end_of_wait(deadline_ns, lambda at_ns: self._time_out(at_ns, reply))
        if not self.waiting:
            self._events.attach(self._happened)
        self.waiting[reply] = _Waiting(condition, timer, tester(condition) if _asks_of_events(condition) else None)
        return reply

    def fail(self, error: Exception) -> bool:
        waits = list(self.waiting)
        for reply in waits:
            self._end(reply)
            reply.fail(error)
        return bool(waits)

    def words(self, now_ns: int, condition: str = "") -> str:
        """The state in words; what `condition` names comes first."""
        rows = sorted(self.rows(now_ns), key=lambda row: _name(row) not in condition)
        if not rows:
            return "the broker has no groups, queues or topics"
        told = [words_of(row) for row in rows[:_LINES]]
        return "; ".join([*told, f"and {len(rows) - _LINES} more"] if len(rows) > _LINES else told)

    def rows(self, now_ns: int) -> Iterator[Row]:
        broker = self._broker
        for view in broker.groups.views(now_ns):
            yield row_of(view, now_ns)
        for name in broker.queues.names():
            queue = broker.queues.queue(name)
            depth = queue.ready + queue.delayed + queue.in_flight
            yield {
                "kind": "queue",
                "group": name,
                "topic": broker.queues.topic_of(name).name,
                "ready": queue.ready,
                "in_flight": queue.in_flight,
                "dead": queue.dead_letters.count(name),
                "depth": depth,
                "lag": depth,
                "time": now_ns,
            }
        for name in broker.topics.names():
            logs = broker.logs.topic(name).log.partitions
            messages, committed = (sum(each) for each in zip(*map(_counts, logs), strict=True))
            yield {"kind": "topic", "topic": name, "messages": messages, "committed": committed, "time": now_ns}
        for name in broker.share_groups.names():
            shared = broker.share_groups.view(name)
            in_flight = sum(at.in_flight for at in shared.offsets)
            lag = sum(at.lag for at in shared.offsets)
            yield _row("share_group", shared) | {"in_flight": in_flight, "lag": lag, "time": now_ns}

    # -- inside

    def _fitting(self, now_ns: int, condition: Filter) -> str:
        asked = asked_things(condition)
        rows = sorted(self.rows(now_ns), key=lambda row: _name(row) not in asked)
        shared: Row = {name: get(self._state, "") for name, get in EVERYWHERE.items()}
        for field, name in named_things(condition):
            for row in rows:
                if _name(row) == name and field in row:
                    shared[called(field, name)] = row[field]
        return next((words_of(row) for row in rows if condition.matches(row | shared)), "")

    def _happened(self, event: Event) -> None:
        self._news.append(event)
        self.look_again(event.time_ns)

    def look_again(self, now_ns: int) -> None:
        """Look when the present call is over, and the state is whole."""
        if self.waiting and not self._looks:
            self._looks = True
            self._timers.at(now_ns, self._look)

    def _look(self, now_ns: int) -> None:
        news, self._news, self._looks = self._news, [], False
        for reply, waiting in list(self.waiting.items()):
            fitting = self._fitting(now_ns, waiting.condition)
            if not fitting and waiting.happens is not None:
                happens = waiting.happens
                fitting = next(
                    (
                        f"{event.kind} in {event.topic or event.group or 'the broker'}"
                        for event in news
                        if any(happens(each) for each in occurrences(event, self._state))
                    ),
                    "",
                )
            if fitting:
                self._end(reply)
                reply.resolve(ConditionAnswer(holds=True, what=fitting))

    def _time_out(self, now_ns: int, reply: Reply[ConditionAnswer]) -> None:
        waiting = self.waiting[reply]
        self._end(reply)
        condition = waiting.condition
        told = self._unknown(now_ns, condition) or self._none_of_its_kind(now_ns, condition)
        if waiting.happens is not None:
            told = f"no event has matched since the wait began (earlier ones do not count); {told}"
        what = told + self.words(now_ns, condition=condition.text)
        reply.resolve(ConditionAnswer(holds=False, what=what))

    def _none_of_its_kind(self, now_ns: int, condition: Filter) -> str:
        kinds = _state_kinds(condition)
        if len(kinds) in {0, len(STATE_FIELDS)} or any(row["kind"] in kinds for row in self.rows(now_ns)):
            return ""
        return f"there is no {' or '.join(kind.replace('_', ' ') for kind in kinds)}; "

    def _unknown(self, now_ns: int, condition: Filter) -> str:
        rows = list(self.rows(now_ns))
        readers = [_name(row) for row in rows if row["kind"] != "topic"]
        topics = [_name(row) for row in rows if row["kind"] == "topic"]
        asked = {"group": asked_things(condition), "topic": condition.values_of("topic")}
        told = ""
        for kind, there in (("group", readers), ("topic", [*topics, *readers])):
            others = (
                f"there {'are' if len(there) > 1 else 'is'} {', '.join(sorted(there))}" if there else "nor any other"
            )
            for name in dict.fromkeys(asked[kind]):
                if name.casefold() not in map(str.casefold, there):
                    told += f"there is no {'group or queue' if kind == 'group' else kind} {name}, {others}; "
        return told

    def _end(self, reply: Reply[ConditionAnswer]) -> None:
        self.waiting.pop(reply).timer.cancel()
        if not self.waiting:
            self._events.detach(self._happened)
            self._news.clear()


def why_never(condition: Filter) -> str:
    """Why no group, queue, topic or event can ever fit `condition`, in words; "" if one may."""
    if _state_kinds(condition) or any(_may_be(condition, kind, _OF_EVENTS) for kind in EventKind):
        return ""
    asked = {*condition.fields, *condition.flags} - _everywhere(condition)
    missing = {
        kind: sorted(asked - {*fields}) for kind, fields in STATE_FIELDS.items() if _may_be(condition, kind, asked)
    }
    kind = min(missing, key=lambda each: len(missing[each]), default="")
    if not kind or not missing[kind]:
        return "nothing matches all of that at once"
    lacks, has = " and no ".join(missing[kind]), ", ".join(STATE_FIELDS[kind][1:])
    return f"a {kind.replace('_', ' ')} has no {lacks}; it has {has}"


def _everywhere(condition: Filter) -> set[str]:
    return {*EVERYWHERE, *(called(field, name) for field, name in named_things(condition))}


def _state_kinds(condition: Filter) -> list[str]:
    return [kind for kind, fields in STATE_FIELDS.items() if _may_be(condition, kind, fields)]


def _may_be(condition: Filter, kind: str, fields: Iterable[str]) -> bool:
    """Whether something of that `kind` may fit which has these fields, and those that everything has."""
    return condition.may_match({"kind": kind}, _everywhere(condition) | {*fields} - {"kind"})


def _asks_of_events(condition: Filter) -> bool:
    of_state = condition.only_compares and all(field_and_argument(name)[0] in _STATE for name in condition.fields)
    return not of_state or condition.tells_apart("kind", tuple(EventKind))


def asked_things(condition: Filter) -> tuple[str, ...]:
    return (*condition.values_of("group"), *(name for _, name in named_things(condition)))


def row_of(group: GroupView, now_ns: int) -> Row:
    return _row("group", group) | {"generation": group.generation, "lag": lag_of(group), "time": now_ns}


def _row(kind: str, view: GroupView | ShareGroupView) -> Row:
    return {
        "kind": kind,
        "group": view.name,
        "topic": tuple(dict.fromkeys(at.topic for at in view.offsets)),
        "client": tuple(member.client for member in view.members),
        "state": view.state,
        "members": len(view.members),
    }


def _counts(log: PartitionLog) -> tuple[int, int]:
    if not (log.segments.open_transactions or log.segments.aborted_ranges(log.start_offset, log.end_offset)):
        return log.messages_count, log.messages_count
    start, end = log.start_offset, log.last_stable_offset
    aborted = sum(min(end, span.stop) - max(start, span.start) for span in log.segments.aborted_ranges(start, end))
    return log.messages_count, log.messages_between(start, end) - aborted


def _name(row: Row) -> str:
    return str(row["group"] if row["kind"] != "topic" else row["topic"])


def words_of(row: Row) -> str:
    name = f"{row['kind'].replace('_', ' ')} {_name(row)}"
    if row["kind"] in {"group", "share_group"}:
        lag = "lag not known yet" if row["lag"] is None else f"lag {row['lag']}"
        members = f"{counted(row['members'], 'member')} ({', '.join(row['client'])})" if row["members"] else "no member"
        read = f" in {', '.join(row['topic'])}" if row["topic"] else ""
        in_flight = f", {row['in_flight']} in flight" if "in_flight" in row else ""
        return f"{name} is {row['state']} with {members}, {lag}{in_flight}{read}"
    if row["kind"] == "queue":
        return f"{name} has {row['ready']} ready, {row['in_flight']} in flight and {row['dead']} dead"
    committed = f", {row['committed']} of them committed" if row["committed"] != row["messages"] else ""
    return f"{name} has {counted(row['messages'], 'message')}{committed}"
