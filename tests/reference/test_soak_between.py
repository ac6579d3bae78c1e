"""Ten minutes of kills before three nodes of Apache Kafka: of nodes, of clients, and of `brokerscope between` itself.

What the cluster has acknowledged is there once, and what was recorded equals the clients' own logs: each message that a
producer was told of, each that a consumer got, each commit. Of a run of the ports that was killed (-9) the last moments
are missing, and its recording says so. Of one that has ended by itself only that is missing which it tells: messages
and commits that were not answered when it closed. Where a coordinator was away as a run began, the run tells of a first
commit, and not from where on.

By hand, with `make soak`; needs Java and Maven. SOAK_S=60 makes it shorter.
"""

from __future__ import annotations

import bisect
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from broker_core.recording.playback import FolderPlayback
from broker_core.recording.reader import seal
from broker_core.recording.schema import DIED
from broker_core.snapshots import Snapshot
from tests.reference.brokers import PATIENCE_S, ROOT
from tests.reference.java_programs import NotHere, classes, end, libraries
from tests.reference.nodes import Nodes, three_nodes

SOAK_S: Final = float(os.environ.get("SOAK_S", "600"))
PAUSE_S, AWAY_S, BETWEEN_NODES_S, QUIET_S = 5.0, 10.0, 60.0, 20.0
PARTITIONS, PRODUCES_EVERY_MS = 6, "40"
TOPIC: Final = "orders"
LIBRARIES: Final = ("java", "confluent", "aiokafka")
Place = tuple[int, int]


class Ports:
    """`brokerscope between` in a process of its own, begun anew after each end; each run has a recording."""

    def __init__(self, servers: str, folder: Path, port: int) -> None:
        self._servers, self._folder, self.port = servers, folder, port
        self.gentle: list[bool] = []  # how each run has ended
        self.start()

    def start(self) -> None:
        run = len(self.gentle)
        command = [sys.executable, "main.py", "between", self._servers, "--port", str(self.port), "--json"]
        command += ["--without-window", "--session", str(self.session(run))]
        with self.told(run).open("w") as out, (self._folder / f"errors-{run}").open("w") as errors:
            self._process = subprocess.Popen(command, stdout=out, stderr=errors, cwd=ROOT)
        until_s = time.monotonic() + PATIENCE_S
        while not self.told(run).read_text():
            assert self._process.poll() is None and time.monotonic() < until_s, f"see {self._folder}/errors-{run}"
            time.sleep(0.1)

    def session(self, run: int) -> Path:
        return self._folder / f"session-{run}"

    def told(self, run: int) -> Path:
        return self._folder / f"told-{run}"

    def stop(self, *, gentle: bool = True) -> None:
        self._process.send_signal(signal.SIGTERM if gentle else signal.SIGKILL)
        self._process.wait()
        self.gentle.append(gentle)

    def kill(self) -> None:
        self._process.kill()

    def summary(self, run: int) -> dict[str, Any]:
        """What a run has told at its end; {} if it was killed."""
        if not self.gentle[run]:
            return {}
        told: dict[str, Any] = json.loads(self.told(run).read_text().splitlines()[-1])
        return told


class Client:
    """A producer or consumer, which is killed and begun anew; each life has a file for what it writes."""

    def __init__(self, verb: str, library: str, number: int, servers: str, folder: Path) -> None:
        self.name, self.folder = f"{library}-{verb}r", folder / f"{library}-{verb}-{number}"
        self.folder.mkdir()
        more = [servers, TOPIC, self.name, *([PRODUCES_EVERY_MS] if verb == "produce" else ())]
        if library == "java":
            jars = libraries()
            options = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx96m"]
            options += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=off"]
            path = f"{classes(jars)}{os.pathsep}{jars}/*"
            self._command = ["java", *options, "-cp", path, "reference.Soak", verb, *more]
        else:
            self._command = [sys.executable, "-m", "tests.reference.soak_client", verb, library, *more]
        self.lives = 0
        self.start()

    def start(self) -> None:
        self.lives += 1
        with (self.folder / f"{self.lives}").open("w") as out, (self.folder / "errors").open("a") as errors:
            self._process = subprocess.Popen(
                self._command, stdout=out, stderr=errors, cwd=ROOT, start_new_session=True
            )  # fmt: skip

    def kill(self) -> None:
        end(self._process, 0)

    def rows(self, word: str) -> Iterator[list[Any]]:
        """Without a line that a kill has cut off."""
        for path in self.folder.glob("[0-9]*"):
            for line in path.read_text().rpartition("\n")[0].splitlines():
                said, rows = json.loads(line)
                yield from rows if said == word else ()


@pytest.mark.soak
@pytest.mark.timeout(3 * SOAK_S + 600)
def test_what_was_acknowledged_is_there_once_and_what_is_recorded_equals_the_logs(tmp_path: Path) -> None:
    try:
        with three_nodes(libraries(), tmp_path) as nodes, contextlib.ExitStack() as ends:
            _soak(tmp_path, nodes, ends)
    except NotHere as missing:
        pytest.skip(str(missing))


def _soak(folder: Path, nodes: Nodes, ends: contextlib.ExitStack) -> None:
    administrator = AdminClient({"bootstrap.servers": nodes.servers})
    administrator.create_topics([NewTopic(TOPIC, PARTITIONS, 3)])[TOPIC].result(PATIENCE_S)
    ports = Ports(nodes.servers, folder, random.randrange(22_000, 22_900))
    ends.callback(ports.kill)
    producers, consumers = list[Client](), list[Client]()
    for library in LIBRARIES:
        servers = f"127.0.0.1:{ports.port}"
        producers.append(Client("produce", library, 1, servers, folder))
        consumers += [Client("consume", library, number, servers, folder) for number in (1, 2)]
    for each in (*producers, *consumers):
        ends.callback(each.kill)
    kills = _disturb(nodes, ports, [*producers, *consumers])
    time.sleep(QUIET_S)
    for each in producers:
        each.kill()
    there = _there(nodes.servers)
    _await(lambda: all(_reached(consumers, library) == _ends(there) for library in LIBRARIES))
    for each in consumers:
        each.kill()
    ports.stop()
    _judge(ports, producers, consumers, there, kills)


def _disturb(nodes: Nodes, ports: Ports, clients: list[Client]) -> Counter[str]:
    dice, kills = random.Random(46), Counter[str]()
    until_s = time.monotonic() + SOAK_S
    away, back_s, node_s = 0, 0.0, time.monotonic() + PAUSE_S
    while time.monotonic() < until_s:
        time.sleep(PAUSE_S)
        if away and time.monotonic() > back_s:
            nodes.start(away)
            away = 0
        kind = dice.choice(("node", "client", "client", "ports gently", "ports -9"))
        if kind == "node":
            if away or time.monotonic() < node_s:
                continue
            away = dice.choice(tuple(nodes.ports))
            nodes.send(away, signal.SIGKILL)
            back_s, node_s = time.monotonic() + AWAY_S, time.monotonic() + BETWEEN_NODES_S
        elif kind == "client":
            client = dice.choice(clients)
            client.kill()
            client.start()
        else:
            ports.stop(gentle=kind == "ports gently")
            ports.start()
        kills[kind] += 1
    if away:
        nodes.start(away)
    nodes.await_answers()
    return kills


def _there(servers: str) -> dict[Place, str]:
    """All messages of the topic, read past the ports."""
    reader = Consumer({"bootstrap.servers": servers, "group.id": "check", "log_level": 0, "enable.auto.commit": False})
    found: dict[Place, str] = {}
    for partition in range(PARTITIONS):
        stop, until_s = -1, time.monotonic() + PATIENCE_S
        while stop < 0:
            with contextlib.suppress(KafkaException):
                stop = reader.get_watermark_offsets(TopicPartition(TOPIC, partition), 10)[1]
            assert time.monotonic() < until_s, "the cluster has no leader"
        reader.assign([TopicPartition(TOPIC, partition, 0)])
        while stop and (partition, stop - 1) not in found:
            assert time.monotonic() < until_s, "the cluster is not read"
            for each in reader.consume(1_000, 1.0):
                if not each.error():
                    found[partition, each.offset()] = each.value().decode()
    reader.close()
    return found


def _ends(there: dict[Place, str]) -> dict[int, int]:
    found: dict[int, int] = {}
    for partition, offset in there:
        found[partition] = max(offset + 1, found.get(partition, 0))
    return found


def _reached(consumers: list[Client], library: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in consumers:
        for partition, offset in each.rows("committed") if each.name.startswith(library) else ():
            if offset:
                found[partition] = max(offset, found.get(partition, 0))
    return found


def _await(holds: Callable[[], bool]) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until_s, "a consumer did not come to the end"
        time.sleep(1)


class Run:
    """What a run of the ports has found when it began, and what it says that it cannot tell."""

    def __init__(self, first: Snapshot, summary: dict[str, Any]) -> None:
        self.was_killed = not summary
        self.ends = {at.partition: at.end_offset for each in first.topics for at in each.partitions}
        self.committed = {(each.name, at.partition): at.committed for each in first.groups for at in each.offsets}
        rows = summary.get("not_answered", {"published": (), "acknowledged": ()})
        self.unpublished = {partition: count for _topic, partition, count in rows["published"]}
        self.uncommitted = {(group, partition): to for group, _topic, partition, to in rows["acknowledged"]}
        self.first_commits: dict[tuple[str, int], int] = {}  # up to which nobody knows how many

    def had(self, kind: str, group: str, partition: int, offset: int) -> bool:
        """Whether it came before this run, as far as it has found out."""
        found = self.committed.get((group, partition)) if kind == "acknowledged" else self.ends[partition]
        return not found or offset < found

    def cannot_tell(self, kind: str, group: str, partition: int, offset: int) -> bool:
        """Each message that was not answered is spent once."""
        if kind == "acknowledged":
            return offset < self.uncommitted.get((group, partition), 0)
        left = self.unpublished.get(partition, 0) if kind == "published" else 0
        self.unpublished[partition] = left - 1
        return left > 0


class Told:
    """What the recordings of all runs tell of one thing, and in which runs."""

    def __init__(self) -> None:
        self.runs: dict[Place, list[int]] = defaultdict(list)
        self.by: Counter[str] = Counter()

    def missing(self, kind: str, group: str, known: set[Place], runs: list[Run]) -> Counter[str]:
        """How many that clients know are not told, by the reason that the runs around them give."""
        found = Counter[str]()
        told = sorted((*place, each[0]) for place, each in self.runs.items())
        for place in sorted(known - self.runs.keys()):
            at = bisect.bisect(told, (*place, 0))
            before = told[at - 1][2] if at and told[at - 1][0] == place[0] else 0
            after = told[at][2] if at < len(told) and told[at][0] == place[0] else len(runs) - 1
            between, what = range(before, after), (kind, group, *place)
            if any(runs[run].was_killed and runs[run + 1].had(*what) for run in between):
                found["killed -9"] += 1
            elif any(runs[run].cannot_tell(*what) for run in between):
                found["not answered"] += 1
            elif any(place[1] < runs[run + 1].first_commits.get((group, place[0]), 0) for run in between):
                found["first commit"] += 1
            else:
                found["else"] += 1
        return found


def _judge(
    ports: Ports, producers: list[Client], consumers: list[Client], there: dict[Place, str], kills: Counter[str]
) -> None:
    told: dict[tuple[str, str], Told] = defaultdict(Told)
    runs, before = list[Run](), 0
    for number, gentle in enumerate(ports.gentle):
        assert gentle or DIED in seal(ports.session(number)).problems
        playback, summary = FolderPlayback(ports.session(number)), ports.summary(number)
        runs.append(run := Run(playback.keyframes.before_event(0), summary))
        before += summary.get("published_before", 0)
        for event in playback.events(0, 1 << 40):
            if event.topic == TOPIC and event.kind in {"published", "delivered", "acknowledged"}:
                found = told[event.kind, event.group or ""]
                found.by[event.client] += event.count
                for offset in event.offsets:
                    found.runs[event.partition or 0, offset].append(number)
            elif event.kind == "offsets_reset":
                for topic, partition, old, new in event.told["changes"]:
                    if topic == TOPIC and old is None:
                        run.first_commits.setdefault((event.group, partition), new)
    acked = {(partition, offset): value for each in producers for partition, offset, value in each.rows("acked")}
    print(f"\n{SOAK_S:.0f} s, killed: {dict(kills)}; load {os.getloadavg()[0]:.0f}")
    twice = len(there) - len(set(there.values()))
    wrong = sum(there.get(place) != value for place, value in acked.items())
    print(f"acknowledged {len(acked)}, in the log {len(there)}, not there or another {wrong}, twice {twice}")
    published = told["published", ""]
    again = sum(len(each) > 1 for each in published.runs.values())
    invented = len(published.runs.keys() - there.keys())
    print(f"told as published twice {again}, and not there {invented}; sent to one run, told of by the next: {before}")
    rows: list[tuple[str, str, set[Place]]] = [("published", "", set(acked))]
    for library in LIBRARIES:
        mine, group = [each for each in consumers if each.name.startswith(library)], f"{library}-consumer"
        got = {(partition, offset) for each in mine for partition, offset in each.rows("got")}
        reached = _reached(mine, library)
        done = {(partition, offset) for partition, offset in got if offset < reached.get(partition, 0)}
        rows += [("delivered", group, got), ("acknowledged", group, done)]
    reasons = ("killed -9", "not answered", "first commit", "else")
    print(f"{'':32}{'clients':>9}{'told':>9}{''.join(f'{reason:>14}' for reason in reasons)}   by")
    lost = 0
    for kind, group, known in rows:
        found = told[kind, group]
        missing = found.missing(kind, group, known, runs)
        lost += missing["else"]
        counts = "".join(f"{missing[reason]:14}" for reason in reasons)
        print(f"{kind + ' ' + group:32}{len(known):9}{len(found.runs):9}{counts}   {dict(found.by)}")
    assert not (wrong or twice or again or invented)
    assert not lost
