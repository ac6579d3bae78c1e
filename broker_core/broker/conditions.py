"""Waiting for a condition in the filter language, on the state of the broker or on what happens in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from broker_core.broker.occurrences import FIELDS as OCCURRENCE_FIELDS
from broker_core.broker.occurrences import BrokerState, Occurrence, occurrences, tester
from broker_core.events import Event, EventStream
from broker_core.filters import Field, Fields, Filter
from broker_core.plurals import counted
from broker_core.replies import Reply
from broker_core.snapshots import GroupView
from broker_core.timers import Timer, Timers

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker

FIELDS = Fields(
    (
        *OCCURRENCE_FIELDS,
        Field("state", "text", "The state of a group: Stable, Empty, PreparingRebalance, CompletingRebalance."),
        Field("members", "number", "Members of a group."),
        Field("messages", "number", "Messages that a topic holds."),
    )
)
_STATE = frozenset(
    {"group", "topic", "client", "generation", "time", "state", "members", "messages"}
    | {"lag", "depth", "ready", "in_flight", "dead"}
)
_LINES = 12  # of the state in words

Row = dict[str, Any]
Found = tuple[bool, str]  # whether the condition holds, and what fits it, or else the state, in words


class _Waiting(msgspec.Struct):
    condition: Filter
    timer: Timer
    #: None where the condition is about the state alone.
    happens: Callable[[Occurrence], bool] | None


class Conditions:
    """A condition holds where a group, queue or topic fits it as it is now, or an event and the state right after it.

    Groups, queues and topics have the kinds group, queue and topic. A group's lag is that in all its topics; it is
    none while members have not begun to read a partition that holds messages. Looked at after whatever happens.
    """

    def __init__(self, broker: Broker, events: EventStream, timers: Timers) -> None:
        self._broker = broker
        self._state = BrokerState(broker)
        self._events = events
        self._timers = timers
        self.waiting: dict[Reply[Found], _Waiting] = {}
        self._news: list[Event] = []
        self._looks = False  # soon
        self._time_ns = 0  # of the last event or wait
        broker.fetches.on_wait(self._changed)

    def wait(self, now_ns: int, condition: Filter, deadline_ns: int) -> Reply[Found]:
        """Settled at once where something fits, when something does, or at `deadline_ns`."""
        self._time_ns = now_ns
        fitting = next((row for row in self.rows(now_ns) if condition.matches(row)), None)
        if fitting is not None:
            return Reply.of((True, words_of(fitting)))
        reply: Reply[Found] = Reply()
        state_only = condition.only_compares and _STATE.issuperset(condition.fields)
        timer = self._timers.at_end_of_wait(deadline_ns, lambda at_ns: self._time_out(at_ns, reply))
        if not self.waiting:
            self._events.attach(self._happened)
        self.waiting[reply] = _Waiting(condition, timer, None if state_only else tester(condition))
        return reply

    def words(self, now_ns: int, condition: str = "") -> str:
        """The state in words; what `condition` names comes first."""
        rows = sorted(self.rows(now_ns), key=lambda row: _name(row) not in condition)
        if not rows:
            return "the broker has no groups, queues or topics"
        told = [words_of(row) for row in rows[:_LINES]]
        return "; ".join([*told, f"and {len(rows) - _LINES} more"] if len(rows) > _LINES else told)

    def rows(self, now_ns: int) -> Iterator[Row]:
        """Groups, queues and topics as filters see them."""
        broker = self._broker
        for view in broker.groups.views(now_ns):
            yield {
                "kind": "group",
                "group": view.name,
                "topic": tuple(dict.fromkeys(each.topic for each in view.offsets)),
                "client": tuple(member.client for member in view.members),
                "state": view.state,
                "members": len(view.members),
                "generation": view.generation,
                "lag": self._lag(view),
                "time": now_ns,
            }
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
            yield {"kind": "topic", "topic": name, "messages": sum(log.messages_count for log in logs), "time": now_ns}

    def _lag(self, group: GroupView) -> int | None:
        """Messages that the group has not committed; None where it is not known from where it reads."""
        found = None
        for place in group.offsets:
            log = self._broker.logs.partition(place.topic, place.partition)
            start = place.committed
            if start is None:
                start = self._broker.fetches.reads_from(group.name, place.topic, place.partition)
            if start is not None:
                found = (found or 0) + log.messages_between(min(start, log.end_offset), log.end_offset)
            elif place.topic in group.topics:
                if log.messages_count:
                    return None
                found = found or 0
        return found

    # -- inside

    def _happened(self, event: Event) -> None:
        self._time_ns = event.time_ns
        self._news.append(event)
        self._changed()

    def _changed(self) -> None:
        """Look when the present call is over, and the state is whole."""
        if self.waiting and not self._looks:
            self._looks = True
            self._timers.at(self._time_ns, self._look)

    def _look(self, now_ns: int) -> None:
        news, self._news, self._looks = self._news, [], False
        rows = list(self.rows(now_ns))
        for reply, waiting in list(self.waiting.items()):
            fitting = next((words_of(row) for row in rows if waiting.condition.matches(row)), None)
            if fitting is None and waiting.happens is not None:
                happens = waiting.happens
                fitting = next(
                    (
                        f"{event.kind} in {event.topic or event.group or 'the broker'}"
                        for event in news
                        if any(happens(each) for each in occurrences(event, self._state))
                    ),
                    None,
                )
            if fitting is not None:
                self._end(reply).cancel()
                reply.resolve((True, fitting))

    def _time_out(self, now_ns: int, reply: Reply[Found]) -> None:
        text = self.waiting[reply].condition.text
        self._end(reply)
        reply.resolve((False, self.words(now_ns, condition=text)))

    def _end(self, reply: Reply[Found]) -> Timer:
        timer = self.waiting.pop(reply).timer
        if not self.waiting:
            self._events.detach(self._happened)
            self._news.clear()
        return timer


def _name(row: Row) -> str:
    return str(row["group"] if row["kind"] != "topic" else row["topic"])


def words_of(row: Row) -> str:
    """A group, queue or topic in words."""
    name = f"{row['kind']} {_name(row)}"
    if row["kind"] == "group":
        lag = "lag not known yet" if row["lag"] is None else f"lag {row['lag']}"
        members = f"{counted(row['members'], 'member')} ({', '.join(row['client'])})" if row["members"] else "no member"
        read = f" in {', '.join(row['topic'])}" if row["topic"] else ""
        return f"{name} is {row['state']} with {members}, {lag}{read}"
    if row["kind"] == "queue":
        return f"{name} has {row['ready']} ready, {row['in_flight']} in flight and {row['dead']} dead"
    return f"{name} holds {counted(row['messages'], 'message')}"
