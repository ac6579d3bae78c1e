from __future__ import annotations

from collections.abc import Iterator

from spark_reports import text
from spark_reports.findings.causes import cause_of
from spark_reports.findings.episodes import Cause, Episode, episodes
from spark_reports.findings.evidence import Evidence, ReaderEvidence
from spark_reports.findings.finding import INFO, WARN, Finding, Harm

_NOT_TOLD = ("open-transaction", "joining")  # others tell of the first; a group may join
_OVERLOADED = ("growing", "burst", "partition-limit")


def behind(evidence: Evidence) -> Iterator[Finding]:
    """Each group or queue whose messages waited too long, once for each cause that is shown."""
    full = {row["topic"] for row in evidence.rows["backpressure"]}
    for reader in evidence.readers.values():
        found: dict[tuple[str, str], list[tuple[Cause, Episode]]] = {}
        for cause, episode in _caused(reader):
            # Of an overload that makes producers wait the producer's finding tells.
            if cause.kind not in _NOT_TOLD and not (cause.kind in _OVERLOADED and full & set(reader.topics)):
                found.setdefault((cause.kind, cause.who), []).append((cause, episode))
        for each in found.values():
            yield _finding(each)


def overloads(reader: ReaderEvidence, topic: str) -> list[tuple[Cause, Episode]]:
    """When it could not do what came on this topic, the worst first."""
    found = [each for each in _caused(reader) if each[0].kind in _OVERLOADED] if topic in reader.topics else []
    return sorted(found, key=lambda each: -each[1].area_s)


def _caused(reader: ReaderEvidence) -> list[tuple[Cause, Episode]]:
    return [(cause_of(episode), episode) for episode in episodes(reader)]


def _finding(found: list[tuple[Cause, Episode]]) -> Finding:
    cause, worst = max(found, key=lambda each: each[1].area_s)
    every = [episode for _, episode in found]
    reader = worst.reader
    first = min(every, key=lambda episode: episode.begin)
    harm = Harm(
        at_once=max(episode.highest for episode in every),
        delayed=round(sum(episode.delayed for episode in every)),
        message_s=sum(episode.delayed_s for episode in every),
    )
    left = round(float(reader.waiting[-1])) if any(episode.end == len(reader.waiting) for episode in every) else 0
    when = [f"from {text.clock(episode.from_ns)} to {text.clock(episode.to_ns)}" for episode in every]
    if len(every) > 1:
        told = [f"{one} ({episode.highest:,} waited at the most)" for one, episode in zip(when, every, strict=True)]
        when = [f"{len(every)} times: {text.listed(told)}"]
    end = f"{text.plural(left, 'message')} waited at the end" if left else "at the end no message waited too long"
    detail = f"It was behind {when[0]}; {end}."
    section = "lag" if reader.is_group else "queues"
    return Finding(WARN, cause.headline, detail, section, first.from_ns, cause.kind, cause.why, cause.advice, harm)


def did_nothing(evidence: Evidence) -> Iterator[Finding]:
    """Readers that were there for most of the time and read nothing."""
    consumers = evidence.rows["consumers"]
    idle = [row for row in consumers if row["there_ns"] >= evidence.scale.duration_ns / 4 and not row["delivered"]]
    if not idle or any(row["missing"] for row in evidence.rows["recording"]):
        return
    reasons = []
    for row in idle:
        if not row["group"]:
            why = "was in no group"
        elif row["with_partitions_ns"] == 0:
            why = f"had no partition in {row['group']}"
        else:
            why = f"got nothing from {row['group']}"
        reasons.append(f"{row['client']} {why}")
    names = text.listed([row["client"] for row in idle])
    yield Finding(INFO, f"{names} did nothing", f"{text.listed(reasons)}.", "consumers", kind="idle")
