"""Programs that a test leads, and what their logs say against the account of the recording."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from broker_core.recording.judged import audited
from broker_core.testing.embedded_broker import EmbeddedBroker
from tests.figures.accounts import differences
from tests.figures.recount.account import Account
from tests.figures.recount.reading import rows_of
from tests.processes import ROOT, Process

PATIENCE_S = 60
JAVA = Path(__file__).parent / "JavaProgram.java"
Place = tuple[str, int, int]  # topic, partition, offset


class Led:
    """A program in a process of its own. Calling it tells it what to do, and returns what reached it meanwhile."""

    def __init__(self, process: Any) -> None:
        self._process = process

    def begin(self, name: str, *words: Any) -> None:
        """Tell it what to do, and do not wait."""
        self._process.stdin.write(json.dumps([name, *words]) + "\n")
        self._process.stdin.flush()

    def end(self) -> list[Place]:
        """What reached it in what it was told."""
        line = self._process.stdout.readline()
        assert line, "the program has ended: " + self._process.stderr.read()
        return [(topic, partition, offset) for topic, partition, offset in json.loads(line)]

    def __call__(self, name: str, *words: Any) -> list[Place]:
        self.begin(name, *words)
        return self.end()

    @contextmanager
    def serving(self) -> Iterator[None]:
        """It is there meanwhile, and reads nothing."""
        self.begin("serve")
        yield
        self("nothing")
        self.end()

    def kill(self) -> None:
        """As `kill -9`."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


@dataclass
class Stage:
    """A broker, the folder of its recording and of the programs' logs."""

    broker: EmbeddedBroker
    folder: Path
    _programs: list[Any] = field(default_factory=list)

    def program(self, library: str, client: str, group: str = "g", **told: Any) -> Led:
        """Start one: `library` is the name of its file."""
        settings = {"group.id": group, **told.pop("settings", {})}
        told = {"topics": ["t"], **told, "servers": self.broker.bootstrap_servers, "client": client}
        told |= {"settings": settings, "group": group, "log": str(self.log(group)), "http": self.broker.http_url}
        words = [sys.executable, "-m", f"tests.figures.programs.{library}_program", json.dumps(told)]
        process = self._start(words)
        self._programs.append(process)
        return Led(process)

    def java(self, client: str, libraries: str, group: str = "g", topic: str = "t", **settings: str) -> Led:
        """Start one of the Java client; `libraries` is the folder of its jars."""
        words = ["java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", f"{libraries}/*", str(JAVA)]
        words += [self.broker.bootstrap_servers, client, group, str(self.log(group)), topic]
        words += [f"{name.replace('_', '.')}={value}" for name, value in settings.items()]
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen(words, text=True, **pipes)
        self._programs.append(process)
        return Led(process)

    @staticmethod
    def _start(words: list[str]) -> Any:
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return Process(words, text=True, cwd=ROOT, **pipes)

    def log(self, group: str) -> Path:
        """Where the programs of a group write what reached them."""
        return self.folder / f"{group}.log"

    def wait_for(self, client: str, count: int, group: str = "g") -> None:
        """Until `count` messages have reached that program."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            lines = self._lines(group) if self.log(group).exists() else []
            if sum(line["client"] == client and line["did"] == "polled" for line in lines) >= count:
                return
            time.sleep(0.05)
        raise AssertionError(f"{client} was given less than {count} messages in {PATIENCE_S} s")

    def end(self) -> None:
        """End what is left."""
        for process in self._programs:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def recorded(self) -> Path:
        """The recording up to now, in a folder of its own."""
        folder = self.folder / f"session-{len([*self.folder.glob('session-*')])}"
        self.broker.save(folder)
        return folder

    def told(self, *groups: str) -> Told:
        """What the programs wrote, and what a recount of the recording says of it."""
        folder = self.recorded()
        return Told(folder, rows_of(folder), {group: self._lines(group) for group in groups or ("g",)})

    def _lines(self, group: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log(group).read_text("utf-8").splitlines()]


@contextmanager
def stage(broker: EmbeddedBroker, folder: Path) -> Iterator[Stage]:
    """A stage on which programs are ended."""
    found = Stage(broker, folder)
    try:
        yield found
    finally:
        found.end()


class Told:
    """What programs say of their groups beside the account of the recording."""

    def __init__(self, session: Path, rows: list[dict[str, Any]], lines: dict[str, list[dict[str, Any]]]) -> None:
        self.session, self.rows, self._lines = session, rows, lines
        self.account = Account()
        for row in rows:
            self.account.add(row)

    def polled(self, group: str = "g") -> Counter[Place]:
        """How often each message reached a program."""
        return Counter(_place(line) for line in self._lines[group] if line["did"] == "polled")

    def twice(self, group: str = "g") -> Counter[Place]:
        """How often each message reached programs again, though no program had asked for it once more: another one, or
        one that had lost the partition, or had committed it.
        """
        found: Counter[Place] = Counter()
        had: dict[Place, str] = {}  # who had it last, and has the partition still
        done: dict[tuple[str, int], int] = {}
        for line in self._lines[group]:
            place = _place(line)
            if line["did"] == "polled":
                found[place] += place in had and (had[place] != line["client"] or place[2] < done.get(place[:2], 0))
                had[place] = line["client"]
            elif line["did"] in {"gave", "release"}:
                had.update({each: "" for each in had if each[:2] == place[:2] and had[each] == line["client"]})
            elif line["did"] == "committed":
                done[place[:2]] = max(done.get(place[:2], 0), place[2])
        return +found

    def agree(self) -> None:
        """Assert that `brokerscope audit` says of the recording what the recount says."""
        found, judged = audited(self.session)
        assert judged
        told = differences(found, self.account)
        assert not told, told

    def of(self, reader: str = "g", source: str = "t") -> dict[str, Any]:
        """The row of a reader."""
        (row,) = [row for row in self.account.readers() if (row["source"], row["reader"]) == (source, reader)]
        return row

    @property
    def false(self) -> set[str]:
        """The verdicts that do not hold."""
        return {name for name, holds in self.account.verdicts().items() if not holds}

    def hold(self, group: str = "g", *, reader: str = "") -> None:
        """Assert what an account must have right whatever the programs did: all that reached a program twice is told as
        delivered again, and what is told beyond that was given to a client that did not hand it to its program.
        """
        reader = reader or group
        given: Counter[tuple[str, Place]] = Counter()
        for row in self.rows:
            if row["kind"] == "delivered" and row["group"] == reader:
                for offset in range(row["offset"], row["offset"] + row["count"]):
                    given[row["client"].partition("@")[0], (row["topic"], row["partition"], offset)] += 1
        polled = Counter((line["client"], _place(line)) for line in self._lines[group] if line["did"] == "polled")
        assert not polled - given, "this reached a program, and no event says that it was given to it"
        again = [each for each in self.account.again if each.reader == reader]
        shown = Counter((each.source, each.partition, each.offset) for each in again)
        named = Counter((each.source, each.partition, each.offset) for each in again if each.why)
        seen = self.polled(group)
        missed = Counter({place: count - 1 for place, count in seen.items() if count > 1}) - shown
        assert not missed, "these reached a program twice, and the account tells of no second delivery"
        missed = self.twice(group) - named
        assert not missed, "these reached a program again by nobody's seek, and are not told as delivered again"
        ahead: Counter[Place] = Counter()
        for (client, place), count in given.items():
            ahead[place] += count - polled[client, place]
        beyond = named - self.twice(group) - ahead
        beyond -= Counter({place: count - 1 for place, count in seen.items() if count > 1})
        assert not beyond, "these are told as delivered again, and no client had them that its program did not get"
        twice = self.twice(group)
        print(
            f"{reader}: {twice.total():,} of {polled.total():,} messages reached a program again, all are told; "
            f"{(named - twice).total():,} more are told, which clients had fetched ahead"
        )


def _place(line: dict[str, Any]) -> Place:
    return line["topic"], line["partition"], line["offset"]
