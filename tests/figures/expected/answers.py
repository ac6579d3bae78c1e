"""The panels that read the history, and the dialog "Was anything lost?"."""

from __future__ import annotations

from typing import Any

from tests.figures.expected.wording import OneOf, length, moment, number, numbers
from tests.figures.recount.session import Recount

Figures = dict[tuple[str, str, str], Any]
Row = dict[str, Any]

_CHOICES = {
    "failures": {
        *("nacked", "lease_expired", "dead_lettered", "rejected", "dropped", "evicted", "expired", "fault"),
        *("damage", "producer_blocked", "alert_raised"),
    },
    "rebalances": {
        *("member_joined", "member_left", "group_state", "rebalance_started", "rebalance_completed"),
        *("partitions_revoked", "partitions_assigned"),
    },
    "mine": {"user_action"},
}
_DOES = {"refuse": "refuses", "dead_letter": "dead-letters"}
_COUNTS = ("Published", "Redriven", "Read or acknowledged", "Waiting", "In flight", "Dead-lettered")
_TITLES = (*_COUNTS, "Taken out or deleted", "Skipped by reset or seek", "Aborted")
_FATES = {"acknowledged": "Acknowledged", "delivered": "Delivered", "nacked": "Nacked", "released": "Released"}
_FATES |= {"lease_expired": "Lease expired", "dead_lettered": "Dead-lettered", "purged": "Purged"}
_FATES |= {"evicted": "Evicted", "expired": "Expired"}


def _fate_word(fate: Any) -> str:
    if fate is None:
        return "Waiting"
    return "Withdrawn" if fate["cause"] == "withdrawn" else _FATES[fate["kind"]]


class Answers:
    """One look at `now_ns`."""

    def __init__(self, recount: Recount, now_ns: int) -> None:
        self.recount = recount
        self.now_ns = now_ns
        self.found: Figures = {}

    def figures(self) -> Figures:
        """All of them."""
        self._schemas()
        self._events()
        self._messages()
        self._redriven()
        self._audit()
        return self.found

    def _set(self, place: str, name: str, **figures: Any) -> None:
        for figure, value in figures.items():
            self.found[place, name, figure] = value

    def _schemas(self) -> None:
        rows = 0
        for subject, ids in self.recount.schemas.versions.items():
            for version, schema_id in enumerate(ids, 1):
                users = [
                    f"{topic['name']} ({_DOES[topic['schema'].get('mode', 'refuse')]})"
                    for topic in self.recount.scenario.get("topics", ())
                    if topic.get("schema", {}).get("subject") == subject and topic["name"] in self.recount.listed
                ]
                figures = {
                    "Subject": subject,
                    "Version": str(version),
                    "Id": str(schema_id),
                    "Kind": self.recount.schemas.settings[subject].get("kind", "JSON"),
                    "Compatibility": self.recount.schemas.settings[subject].get("compatibility", "BACKWARD"),
                    "Topics": ", ".join(users) or "none",
                }
                self._set("schemas", f"{subject} {version}", **figures)
                rows += 1
        self._set("schemas", "panel", count=f"{rows:,}")
        for (topic, client, cause, became), (count, last_ns) in self.recount.schemas.refusals.items():
            figures = {
                "Last (session)": moment(last_ns),
                "Messages": f"{count:,}",
                "Topic": topic,
                "Producer": client,
                "Became": became,
                "Reason": cause,
            }
            self._set("refused", f"{topic} {client} {cause} {became}", **figures)

    def _events(self) -> None:
        self._set("events", "all", count=f"{self.recount.events:,}")
        for choice, kinds in _CHOICES.items():
            planned = self.recount.planned if choice == "mine" else 0
            self._set("events", choice, count=number(sum(self.recount.kinds[kind] for kind in kinds) - planned))

    def _messages(self) -> None:
        there = {
            name: f"{sum(part.count(part.start, part.end) for part in self.recount.topics[name].partitions):,}"
            for name in self.recount.listed
        }
        if there:
            self._set("messages", "panel", count=OneOf((None, *there.items())))

    def _redriven(self) -> None:
        for redriven in self.recount.redrives.all:
            row, fate = redriven.row, redriven.fate
            figures = {
                "Redriven (session)": moment(row["time_ns"]),
                "Queue": row["group"],
                "Dead letter": f"{row['offset']:,}",
                "Now at": numbers(f"{row['to_topic']}/{row['to_partition']}", row["to_offset"]),
                "Key": "" if row["key"] is None else row["key"].decode(),
                "Cause": row["cause"],
                "Since then": _fate_word(fate),
                "Deliveries": str(redriven.deliveries),
                "By": "" if fate is None else fate["client"],
                "After": "" if fate is None else length(fate["time_ns"] - row["time_ns"]),
            }
            self._set("redriven", str(row["seq"]), **figures)

    # -- was anything lost?

    def _audit(self) -> None:
        published: dict[str, int] = {}
        missing = 0
        for source, reader, *counts in (*self._of_queues(), *self._of_groups()):
            came, again, *gone = counts
            published[source] = came
            missing += abs(came + again - sum(gone))
            values = dict(zip(_TITLES, counts, strict=True)) | {"Missing": came + again - sum(gone)}
            self._set("audit", f"{source} {reader}", **{title: f"{count:,}" for title, count in values.items()})
        self._set("audit", "answer", sentence=numbers(missing or sum(published.values())))

    def _of_queues(self) -> list[tuple[Any, ...]]:
        found = []
        for queue in self.recount.queues.values():
            came, again = self.recount.topics[queue.topic].published, queue.redriven
            if queue.is_subscription:
                again = sum(one.row["to_topic"] == queue.topic for one in self.recount.redrives.all)
                came -= again
            found.append(
                (
                    queue.topic,
                    queue.name if queue.is_subscription else "queue",
                    came,
                    again,
                    queue.acknowledged,
                    queue.waiting(),
                    len(queue.held()),
                    queue.dead_lettered,
                    queue.out,
                    0,
                    0,
                )
            )
        return found

    def _of_groups(self) -> list[tuple[Any, ...]]:
        """Each offset on its own: was it read, does it wait, was it deleted before it could be read?"""
        found = []
        compacted = {
            topic["name"]
            for topic in self.recount.scenario.get("topics", ())
            if topic.get("log", {}).get("cleanup") == "compact"
        }
        for name, group in self.recount.groups.items():
            for topic in sorted({place[0] for place in self.recount.read_by(name)}):
                sums = [0] * 7
                for at, log in enumerate(self.recount.topics[topic].partitions):
                    place = (name, topic, at)
                    aborted = self.recount.aborted.get(place, set())
                    given = self.recount.read.get(place, set()) | aborted
                    goes_on = group.committed.get((topic, at), 0)
                    known = given | self.recount.passed.get(place, set())
                    first = min(known) if known else max(goes_on, log.start)
                    offsets = [offset for offset in range(first, log.end) if offset not in log.markers]
                    again = {
                        one.row["to_offset"]
                        for one in self.recount.redrives.all
                        if (one.row["to_topic"], one.row["to_partition"]) == (topic, at)
                    }
                    redriven = sum(offset in again for offset in offsets)
                    unread = [offset for offset in offsets if offset not in given]
                    skipped = sum(offset < goes_on and offset in known for offset in unread)
                    gone = sum(offset < log.start and not (offset < goes_on and offset in known) for offset in unread)
                    waiting = len(unread) - skipped - gone
                    if topic in compacted:  # which messages a compaction has taken is in no event
                        gone += sum(offset < max(known, default=0) for offset in unread) - skipped - gone
                        waiting = len(unread) - skipped - gone
                    read = len(given - aborted)
                    more = (len(offsets) - redriven, redriven, read, waiting, gone, skipped, len(aborted))
                    sums = [whole + part for whole, part in zip(sums, more, strict=True)]
                came, redriven, done, waiting, *taken = sums
                found.append((topic, name, came, redriven, done, waiting, 0, 0, *taken))
        return found
