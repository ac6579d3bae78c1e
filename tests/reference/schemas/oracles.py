"""The judges in Java: their jars fetched by Maven into the user's cache, one program, all pairs in one run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from tests.reference.java_programs import NotHere

HERE = Path(__file__).parent
PROGRAM = HERE / "java" / "reference" / "Schemas.java"
_FETCHING_S, _RUNNING_S = 600, 600


def classpath() -> str:
    """Where the program and its libraries are, made at the first call. Raises NotHere."""
    for command in ("java", "javac", "mvn"):
        if shutil.which(command) is None:
            raise NotHere(f"There is no {command} on this machine.")
    pom = HERE / "pom.xml"
    digest = hashlib.sha256(pom.read_bytes() + PROGRAM.read_bytes()).hexdigest()[:16]
    folder = Path(platformdirs.user_cache_dir("brokerscope")) / "reference" / f"schemas-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            jars = Path(unfinished) / "jars"
            goals = ("dependency:copy-dependencies", "dependency:copy", f"-DoutputDirectory={jars}")
            _done(["mvn", "-q", "-B", "-f", str(pom), *goals], "Maven could not fetch Apache Avro and Apicurio")
            compiler = ["javac", "-nowarn", "-d", unfinished, "-cp", f"{jars}/*", str(PROGRAM)]
            _done(compiler, "the program does not compile")
            if not folder.exists():
                shutil.copytree(unfinished, folder)
    return f"{folder}{os.pathsep}{folder}/jars/*"


def _done(command: Sequence[str], otherwise: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCHING_S, check=False)
    except subprocess.TimeoutExpired:
        raise NotHere(f"{otherwise}: it took more than {_FETCHING_S} s.") from None
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if "rror" in line]
        raise NotHere(f"{otherwise}: {said[0] if said else 'it said nothing'}")


def judged(pairs: Sequence[tuple[str, str, str]]) -> list[str]:
    """What they say of each (language, writer, reader): compatible, "not: ..." or "invalid: ...". Raises NotHere."""
    asked = "".join(
        json.dumps({"language": language, "writer": writer, "reader": reader}) + "\n"
        for language, writer, reader in pairs
    )
    options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command = ["java", *options, "-cp", classpath(), "reference.Schemas"]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=_RUNNING_S, check=False)
    answers = [json.loads(line)["answer"] for line in done.stdout.splitlines()]
    if len(answers) != len(pairs):
        raise RuntimeError(f"the program has answered {len(answers)} of {len(pairs)} pairs: {done.stderr[-500:]}")
    return answers
