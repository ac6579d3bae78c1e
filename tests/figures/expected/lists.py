"""The navigator, the status bar, the cards of rebalances, and the tables of panels."""

from __future__ import annotations

from typing import Any

from tests.figures.expected.settings import (
    consumers_of,
    fault_word,
    gate_state,
    handled,
    others_of,
    producers_of,
    state_of,
    workers_of,
)
from tests.figures.expected.trends import level_spark, rate_spark, trend_of
from tests.figures.expected.wording import (
    Alike,
    Anything,
    Holding,
    Sentences,
    bounded,
    holding,
    length,
    messages,
    moment,
    number,
    numbers,
    per_second,
    window_words,
    with_unknown,
)
from tests.figures.recount.gaps import Gap
from tests.figures.recount.groups import Group, Rebalance
from tests.figures.recount.session import Recount

Figures = dict[tuple[str, str, str], Any]
GAPS_LISTED = 12
SPANS_TOLD = 12


class Lists:
    """One look at `now_ns`."""

    def __init__(self, recount: Recount, now_ns: int) -> None:
        self.recount = recount
        self.now_ns = now_ns
        self.found: Figures = {}

    def figures(self) -> Figures:
        """All of them."""
        self._navigator()
        self._status()
        self._cards()
        self._assignments()
        self._offsets()
        self._in_flight()
        self._dead_letters()
        self._ownership()
        return self.found

    def _set(self, place: str, name: str, **figures: Any) -> None:
        for figure, value in figures.items():
            self.found[place, name, figure] = value

    def _row(self, place: str, name: str, titles: tuple[str, ...], values: tuple[Any, ...]) -> None:
        for title, value in zip(titles, values, strict=True):
            self.found[place, name, title] = value

    def _rate(self, kind: str, name: str) -> str:
        return per_second(self.recount.rate((kind, name), self.now_ns))

    # -- beside the canvas

    def _navigator(self) -> None:
        recount = self.recount
        for name in recount.listed:
            rate = f"{self._rate('published', name)}/s"
            self._set(
                "navigator", f"topic:{name}", state=gate_state(recount, name) or "Open", figure=rate, tip=self._window()
            )
            self._set("navigator", f"topic:{name}", series=Alike(rate_spark(recount, ("published", name), self.now_ns)))
        for name, group in recount.groups.items():
            unknown, at_most = recount.lag_unknown(name), recount.at_most(name)
            lag = f"lag {bounded(number(recount.group_lag(name)), at_most)}"
            tip = with_unknown(recount.group_lag(name), unknown, at_most) if unknown or at_most else ""
            self._set("navigator", f"group:{name}", state=group.state, figure=lag + " + ?" * (unknown > 0), tip=tip)
            self._set("navigator", f"group:{name}", series=Alike(level_spark(recount, ("lag", name), self.now_ns)))
        for name, queue in recount.queues.items():
            delayed = queue.delayed(self.now_ns)
            state = gate_state(recount, name) or "Open"
            self._set("navigator", f"queue:{name}", state=state, tip="")
            self._set("navigator", f"queue:{name}", series=Alike(level_spark(recount, ("depth", name), self.now_ns)))
            self._set("navigator", f"dlq:{name}", series=Alike(level_spark(recount, ("dead", name), self.now_ns)))
            if delayed is not None:
                self._set("navigator", f"queue:{name}", figure=f"{queue.waiting() - delayed:,} ready")
            dead = len(queue.letters)
            word = "Dead letter" if dead else "Empty"
            self._set("navigator", f"dlq:{name}", state=word, figure=f"{dead:,}", tip="")
        producers = producers_of(recount) | others_of(recount, self.now_ns)
        others = {
            member.client: name
            for name, group in recount.groups.items()
            for member in group.members.values()
            if member.client not in recount.clients
        }
        consumers, workers = {**others, **consumers_of(recount)}, workers_of(recount)
        for kind, clients, flow in (
            ("producer", producers, "published by"),
            ("consumer", consumers, ""),
            ("worker", workers, "delivered to"),
        ):
            for name, target in clients.items():
                way = handled(recount, name) if kind == "consumer" else flow
                rate = f"{self._rate(way, name)}/s"
                self._set(
                    "navigator",
                    f"{kind}:{name}",
                    state=state_of(recount, name),
                    figure=rate,
                    tip=holding(target, *self._window(way, name).parts),
                    series=Alike(rate_spark(recount, (way, name), self.now_ns)),
                )
        self._transactions()
        self._faults({**producers, **consumers, **workers})
        counts = {
            "topics": recount.listed,
            "groups": recount.groups,
            "queues": recount.queues,
            "dead": recount.queues,
            "producers": producers,
            "consumers": {**consumers, **workers},
            "faults": recount.faults,
            "bookmarks": (),
        }
        for section, things in counts.items():
            self._set("navigator", section, count=len(things))

    def _window(self, kind: str = "published", name: str = "") -> Holding:
        """The time over which a rate is counted, in words."""
        return holding(window_words(self.recount.over_ns((kind, name), self.now_ns)))

    def _transactions(self) -> None:
        rows = self.recount.transactions.values()
        for row in rows:
            self._set(
                "navigator",
                f"transaction:{row['detail']['transactional_id']}",
                state="Ongoing",
                figure=f"for {length(self.now_ns - row['time_ns'])}",
                tip=holding(row["client"], length(row["detail"]["timeout_ms"] * 1_000_000)),
                series=(),
            )
        if rows:
            self._set("navigator", "transactions", count=len(rows))

    def _faults(self, clients: dict[str, str]) -> None:
        for (client, fault), row in self.recount.faults.items():
            until_ns = row["detail"].get("until_ns")
            left = length(self.now_ns - row["time_ns"] if until_ns is None else until_ns - self.now_ns)
            role = self.recount.clients.get(client, "")
            kind = role if client in clients else "fault"
            for what, names in (("topic", self.recount.listed), ("group", self.recount.groups)):
                kind = what if client in names else kind
            kind = "queue" if client in self.recount.queues and not role else kind
            self._set(
                "navigator",
                f"faults {kind}:{client}",
                figure=numbers(left),
                state=fault_word(client, fault),
                tip=holding(row["cause"], left),
                series=(),
            )

    def _status(self) -> None:
        recount = self.recount
        held = sum(len(queue.held()) for queue in recount.queues.values())
        in_hand = sum(
            recount.in_hand(group, place)[0] for group in recount.groups.values() for place in list(group.handed_from)
        )
        self._set(
            "status", "bar", rate=f"{self._rate('published', '')} messages/s", in_flight=f"{held + in_hand:,} in flight"
        )
        self._set("toolbar", "clock", time=moment(self.now_ns))
        dead = sum(len(queue.letters) for queue in recount.queues.values())
        self._set("tabs", "Dead letters", count=f"{dead:,}" if dead else "")

    def _cards(self) -> None:
        for card in self.recount.rebalances:
            name = f"{card.group} at {moment(card.started_ns)}"
            running = card.after is None
            after = "…" if running else str(card.generation_after)
            self._set(
                "card",
                name,
                state="Rebalancing" if running else "Stable",
                generation=f"{card.generation_before} → {after}",
                started=moment(card.started_ns),
                running=running,
                from_outside=False,
            )
            given_up = self._given_up(card)
            gaps = sorted(
                (
                    gap
                    for gap in self.recount.gaps(card.group, card.started_ns)
                    if gap.assigned_ns is not None or gap.cause or gap.place[0] not in given_up
                ),
                key=lambda gap: (-gap.lasted_ns(self.now_ns), (gap.group, *gap.place)),
            )
            self._set("card", name, no_reader=self._no_reader(card, gaps), gaps=self._gaps(gaps))
            now = card.after or {}
            for place in {*card.before, *now}:
                old, new = card.before.get(place, ""), now.get(place, "")
                where = f"{place[0]}/{place[1]}"
                if old == new:
                    self.found["card", name, f"kept {where}"] = old
                else:
                    self.found["card", name, f"moved {where}"] = (old, new)

    def _given_up(self, card: Rebalance) -> list[str]:
        """The topics that members had before it, and nobody has after it."""
        kept = {topic for topic, _partition in card.after or {}}
        return [] if card.after is None else sorted({topic for topic, _partition in card.before} - kept)

    def _no_reader(self, card: Rebalance, gaps: list[Gap]) -> object:
        """The longest time for which nobody read a partition, and its parts."""
        if not gaps:
            ended_ns = self.now_ns if card.ended_ns is None else card.ended_ns
            return numbers(length(ended_ns - card.started_ns), ", ".join(self._given_up(card)))
        longest = gaps[0]
        whole = length(longest.lasted_ns(self.now_ns))
        if longest.read_ns is None or longest.assigned_ns is None:
            return numbers(whole)
        noticed_ns = max(longest.start_ns, card.started_ns)
        parts = [length(noticed_ns - longest.start_ns)] * bool(longest.cause and noticed_ns > longest.start_ns)
        parts.append(length(longest.assigned_ns - noticed_ns))
        parts += [length(longest.read_ns - longest.assigned_ns)] * (longest.read_ns != longest.assigned_ns)
        return numbers(whole, *(parts if len(parts) > 1 else ()))

    def _gaps(self, gaps: list[Gap]) -> object:
        told = [
            part
            for gap in gaps[:GAPS_LISTED]
            for part in (*gap.place, length(gap.lasted_ns(self.now_ns)), moment(gap.start_ns))
        ]
        return numbers(*told, *([len(gaps) - GAPS_LISTED] if len(gaps) > GAPS_LISTED else []))

    # -- panels

    def _assignments(self) -> None:
        titles = ("Topic", "Partition", "Group", "Owner", "Since (session time)", "State")
        read: set[str] = set()
        rows = 0
        for group in self.recount.groups.values():
            read.update(group.topics())
            for topic, partition in self.recount.read_by(group.name):
                since_ns = group.owned_ns((topic, partition))
                since = "" if since_ns is None else moment(since_ns)
                owner = group.owner((topic, partition)) or "nobody"
                values = (topic, str(partition), group.name, owner, since, group.state)
                self._row("assignments", f"{group.name} {topic} {partition}", titles, values)
                rows += 1
        for topic in self.recount.listed:
            if topic not in read:
                for partition in range(len(self.recount.topics[topic].partitions)):
                    values = (topic, str(partition), "no group", "nobody", "", "Unread")
                    self._row("assignments", f" {topic} {partition}", titles, values)
                    rows += 1
        self._set("assignments", "panel", count=f"{rows:,}", note="")

    def _offsets(self) -> None:
        titles = ("Group", "Topic", "Partition", "Owner", "Start", "End", "Committed", "Lag (messages)")
        rows = 0
        for group in self.recount.groups.values():
            for topic, partition in self.recount.read_by(group.name):
                place, log = (topic, partition), self.recount.topics[topic].at(partition)
                name = f"{group.name} {topic} {partition}"
                lag = self.recount.lag(group.name, topic, partition)
                values = (
                    group.name,
                    topic,
                    str(partition),
                    group.owner(place) or "nobody",
                    number(log.start),
                    number(log.end),
                    number(group.committed.get(place)),
                    bounded(number(lag), self.recount.at_most(group.name, [place])),
                )
                self._row("offsets", name, titles, values)
                lag_ns = self.recount.lag_ns(group.name, topic, partition, self.now_ns)
                seconds = "n/a" if lag_ns is None else f"{lag_ns // 100_000_000 / 10:,.1f}"
                self.found["offsets", name, "Lag (s)"] = seconds
                if not group.owner(place):
                    self.found["offsets", name, "Position"] = "n/a"
                else:
                    self.found["offsets", name, "Position"] = number(group.position.get(place))
                level = ("lag", name)
                word, per_s, _over_s, drains_s = trend_of(self.recount, level, self.now_ns)
                told = word.capitalize() if word == "steady" else f"{word.capitalize()} {per_second(per_s)}/s"
                self.found["offsets", name, "Trend"] = "n/a" if lag is None else told
                self.found["offsets", name, "Drained in"] = _drained(lag, drains_s)
                rows += 1
        self._set("offsets", "panel", count=f"{rows:,}", note=self._summary())

    def _summary(self) -> object:
        told: list[str] = []
        for name in self.recount.groups:
            lag = self.recount.group_lag(name)
            if lag:
                word, per_s, over_s, drains_s = trend_of(self.recount, ("lag", name), self.now_ns)
                over = length(round(over_s * 1_000_000_000))
                pace = f" {word} by {per_second(per_s)}/s" if word != "steady" else " steady"
                in_time = f" {length((drains_s or 0) * 1_000_000_000)}" if word == "falling" else ""
                lacks = f"{self.recount.lag_unknown(name)} partitions" if self.recount.lag_unknown(name) else ""
                behind = bounded(f"{lag:,}", self.recount.at_most(name))
                told.append(f"{name} is {behind} {lacks} behind{pace} over {over}{in_time}")
        return Sentences(tuple(told))

    def _in_flight(self) -> None:
        titles = ("Queue", "Priority", "Offset", "Key", "Holder", "Attempt", "Acquired (session time)", "Time left (s)")
        rows = 0
        for queue in self.recount.queues.values():
            for (partition, offset), one in queue.held().items():
                left = f"{max(0, one.deadline_ns - self.now_ns) / 1e9:.1f}"
                attempt = f"{one.attempt} of {queue.max_attempts}"
                values = (
                    queue.name,
                    str(partition),
                    f"{offset:,}",
                    Anything() if one.key is None and not one.is_alone else (one.key or b"").decode(),
                    one.holder,
                    attempt,
                    moment(one.acquired_ns),
                    left,
                )
                self._row("in_flight", f"{queue.name} {partition} {offset}", titles, values)
                rows += 1
        held = rows
        for group in self.recount.groups.values():
            for place in list(group.handed_from):
                count, first = self.recount.in_hand(group, place)
                if count:
                    self._held(group, place, count, first)
                    rows += 1
                    held += count
        told = f"{held:,} messages in {rows:,} rows" if held > rows else f"{rows:,}"
        self._set("in_flight", "panel", count=told, note="")

    def _held(self, group: Group, place: tuple[str, int], count: int, first: int) -> None:
        """What a consumer of a group was handed and has not committed."""
        topic, partition = place
        end = group.position[place]
        name = f"{group.name} {topic} {partition}"
        figures = {
            "Queue": f"{group.name}, {topic}/{partition}",
            "Offset": f"{first:,}" + (f" to {end - 1:,}" if count > 1 else ""),
            "Key": "1 message" if count == 1 else messages(count),
            "Holder": group.owner(place),
        }
        figures |= dict.fromkeys(("Priority", "Attempt", "Acquired (session time)", "Time left (s)"), "n/a")
        self._set("in_flight", name, **figures)

    def _dead_letters(self) -> None:
        titles = ("Died (session)", "Cause", "Key", "Origin", "Attempts", "Age", "Redrives")
        causes: dict[str, int] = {}
        for queue in self.recount.queues.values():
            for offset, letter in queue.letters.items():
                row = letter.row
                age_s = (self.now_ns - row["time_ns"]) // 1_000_000_000
                values = (
                    moment(row["time_ns"]),
                    row["cause"],
                    "" if row["key"] is None else row["key"].decode(),
                    f"{row['topic']}/{row['partition']} at {row['offset']:,}",
                    str(len(letter.attempts)),
                    f"{age_s} s" if age_s < 60 else length(age_s * 1_000_000_000),
                    str(letter.redrives),
                )
                self._row("dead_letters", f"{queue.name} {offset}", titles, values)
                causes[row["cause"]] = causes.get(row["cause"], 0) + 1
        whole = sum(causes.values())
        for cause, count in causes.items():
            self.found["dead_letters", "causes", cause] = f"{count:,}"
        self.found["dead_letters", "causes", "All causes"] = f"{whole:,}"
        self._set("dead_letters", "panel", count=f"{whole:,}", note="")

    def _ownership(self) -> None:
        for group in self.recount.groups.values():
            for (topic, partition), spans in group.spans.items():
                last = spans[-1]
                lines = [
                    f"{span.owner}: since {moment(span.start_ns)}"
                    if span.end_ns is None
                    else f"{span.owner}: {moment(span.start_ns)} to {moment(span.end_ns)}"
                    + self._read_on(group.name, (topic, partition), span.end_ns)
                    for span in spans
                ]
                if len(lines) > SPANS_TOLD:
                    lines = [f"{len(lines) - SPANS_TOLD:,} owners before", *lines[-SPANS_TOLD:]]
                owned = last.end_ns is None
                name = f"{group.name} {topic}/{partition}"
                self.found["ownership", name, "Owner"] = last.owner if owned else "nobody"
                self.found["ownership", name, "Since"] = moment(group.had_ns[topic, partition]) if owned else ""
                self.found["ownership", name, "Owners"] = str(len({span.owner for span in spans}))
                self.found["ownership", name, "Over time"] = "\n".join(lines)

    def _read_on(self, group: str, place: tuple[str, int], revoked_ns: int) -> str:
        """What the owner of a partition that was revoked then read of it afterwards."""
        for gap in self.recount.all_gaps(group):
            if (gap.place, gap.revoked_ns) == (place, revoked_ns) and gap.read_on_ns:
                over = gap.assigned_ns is not None
                return (
                    f", read on until {moment(gap.read_on_ns[-1])}" if over else ", reads on until its next heartbeat"
                )
        return ""


def _drained(lag: int | None, drains_s: int | None) -> str:
    if lag is None:
        return "n/a"
    if lag == 0:
        return "caught up"
    if drains_s is None:
        return "never at this rate"
    return length(drains_s * 1_000_000_000)
