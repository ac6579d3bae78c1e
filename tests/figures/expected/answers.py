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
_ALWAYS = {"Published", "Waiting", "In hand", "Acknowledged", "Dead-lettered", "Lost"}  # others if there are any
_TITLES = {
    **{
        "Published": "published",
        "Redriven": "redriven",
        "Waiting": "waiting",
        "In hand": "in_hand",
        "Acknowledged": "acknowledged",
    },
    **{"Skipped by a reset": "by a reset", "Skipped by its reader": "by its reader"},
    **{"Before it began": "before it began", "Dead-lettered": "dead_lettered", "Aborted": "aborted"},
    **{"Expired": "expired", "Evicted": "evicted", "Purged": "purged", "Deleted": "deleted", "Lost": "lost"},
}
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
        rows = self.recount.account.readers()
        flat = [row | row["skipped"] for row in rows]
        for row in flat:
            shown = {title: row[name] for title, name in _TITLES.items()}
            told = {title: f"{count:,}" for title, count in shown.items()}
            name = f"{row['source']} {row['reader'] or 'nobody'}"
            self._set("audit", name, **{title: told[title] for title in _ALWAYS})
            for title in told.keys() - _ALWAYS:
                if any(each[_TITLES[title]] for each in flat):
                    self._set("audit", name, **{title: told[title]})
        lost = sum(row["lost"] for row in rows) + self.recount.totals.get("dropped", 0)
        self._set("audit", "answer", sentence=numbers(lost or self.recount.totals.get("published", 0)))
