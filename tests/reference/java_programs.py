"""The programs in Java: their libraries fetched by Maven, compiled once, and a process that runs their trials."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import platformdirs

HERE = Path(__file__).parent
SOURCES = HERE / "java"
FETCHING_S = 600
_PR_SET_PDEATHSIG = 1
TOGETHER = 10  # trials at a time: most wait more than they compute


class NotHere(Exception):
    """What this machine lacks, in one sentence."""


def _kept(name: str, *inputs: bytes) -> Path:
    """The folder in the user's cache for what is made of `inputs`."""
    digest = hashlib.sha256(b"\0".join(inputs)).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("brokerscope")) / "reference" / f"{name}-{digest}"


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `folder` when it is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        yield unfinished
        with contextlib.suppress(OSError):  # somebody else was quicker
            unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def libraries(name: str = "pom") -> Path:
    """The folder of the jars that a Maven project of this folder asks for.

    Raises:
        NotHere: there is no Java or no Maven, or what it needs cannot be fetched.
    """
    for program, why in (("java", "to run Kafka"), ("javac", "to compile the programs"), ("mvn", "to fetch the jars")):
        if shutil.which(program) is None:
            raise NotHere(f"There is no {program} on this machine, which is needed {why}.")
    pom = HERE / f"{name}.xml"
    folder = _kept("jars", pom.read_bytes())
    if folder.is_dir():
        return folder
    print("Fetching what is compared by Maven (some 100 MB, once)", flush=True)
    with _made(folder) as unfinished:
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={unfinished}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=FETCHING_S, check=False)
        except subprocess.TimeoutExpired:
            raise NotHere(f"Maven has not fetched Kafka's jars in {FETCHING_S} s.") from None
        if done.returncode or not any(unfinished.glob("kafka-clients-*.jar")):
            said = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
            raise NotHere(f"Maven could not fetch Kafka's jars: {said[0] if said else 'it said nothing'}")
    return folder


def classes(jars: Path) -> Path:
    """The folder of the compiled programs."""
    sources = sorted(SOURCES.rglob("*.java"))
    folder = _kept("classes", jars.name.encode(), *(path.read_bytes() for path in sources))
    if not folder.is_dir():
        with _made(folder) as unfinished:
            command = ["javac", "-nowarn", "-parameters", "-d", str(unfinished), "-cp", f"{jars}/*", *map(str, sources)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"The programs do not compile:\n{done.stderr}")
    return folder


def versions() -> dict[str, str]:
    """The version of each library that is tried, as the projects ask for them."""
    found = {}
    for path in sorted(HERE.glob("*pom.xml")):
        text = path.read_text("utf-8")
        properties = dict(re.findall(r"<([\w.-]+)>([\w.]+)</\1>", text))
        for name, version in re.findall(r"<artifactId>([\w.-]+)</artifactId><version>([^<]+)</version>", text):
            found[name] = properties.get(version.strip("${}"), version)
    return found


class Trials:
    """A process of Java that runs trials; it ends when this one does, since its standard input ends then."""

    def __init__(self, jars: Path, log: Path) -> None:
        path = f"{classes(jars)}{os.pathsep}{jars}/*"
        mirror = libraries("mirror-pom")
        options = ["-Xmx1g", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
        options += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=error", f"-Dmirror={mirror}/*"]
        self._log = log.open("w")
        self._process = subprocess.Popen(
            ["java", *options, "-cp", path, "reference.Main", str(TOGETHER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            start_new_session=True,  # Ctrl+C is for this process, which ends it
            preexec_fn=dies_with_us,  # noqa: PLW1509 - no thread runs yet
        )
        self._asked = 0
        self._waiting: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        assert self._process.stdout is not None
        first = self._process.stdout.readline()
        if not first:
            raise SystemExit(f"The programs did not start:\n{log.read_text()}")
        self.programs: dict[str, list[str]] = json.loads(first)["programs"]
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            self._waiting.pop(told["id"]).put(told)
        for waiting in list(self._waiting.values()):
            waiting.put({"failed": "the process of the programs has ended", "seen": {}, "seconds": 0})

    def ask(
        self, program: str, trial: str, servers: str, source: str, prefix: str
    ) -> queue.SimpleQueue[dict[str, Any]]:
        """Begin a trial. What it has told is put into the queue at its end."""
        self._asked += 1
        answer = self._waiting[self._asked] = queue.SimpleQueue()
        asked = {"id": self._asked, "program": program, "trial": trial, "servers": servers, "source": source}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({**asked, "prefix": prefix}) + "\n")
        self._process.stdin.flush()
        return answer

    def close(self) -> None:
        """End the process and what it has started."""
        end(self._process)
        self._log.close()


def end(process: subprocess.Popen[Any], patience_s: float = 5) -> None:
    """Ask a process and its children to end, and end them."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)


def dies_with_us() -> None:
    """In a new process: it is killed when the one that started it is."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
