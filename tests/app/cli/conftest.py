"""Commands run as a person runs them, on a data directory and on a running broker."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from broker_core import BrokerHost, HostConfig, LogConfig
from broker_core.listeners.http.listener import HttpListener
from tests.processes import Process

ROOT = Path(__file__).resolve().parents[3]


class Shell:
    """Runs commands; `code` is the exit code of the last one, `error` what it wrote to standard error."""

    def __init__(self, target: list[str], capsys: Any, monkeypatch: Any) -> None:
        self._target, self._capsys, self._monkeypatch = target, capsys, monkeypatch
        self.running = target[0] == "--broker"
        self.code = 0
        self.error = ""

    def __call__(self, *words: object, typed: str | None = None) -> str:
        """Standard output of one command."""
        if typed is not None:
            stdin = io.TextIOWrapper(io.BytesIO(typed.encode()), encoding="utf-8")
            self._monkeypatch.setattr(sys, "stdin", stdin)
        self._capsys.readouterr()
        self.code = main([*map(str, words), *self._target])
        told = self._capsys.readouterr()
        self.error = str(told.err)
        return str(told.out)

    def rows(self, *words: object, typed: str | None = None) -> list[Any]:
        """What a command says to a program."""
        return [json.loads(line) for line in self(*words, "--json", typed=typed).splitlines()]


@pytest.fixture(params=["data directory", "running broker"])
def shell(request: Any, tmp_path: Path, capsys: Any, monkeypatch: Any) -> Iterator[Shell]:
    """One face after the other."""
    if request.param == "data directory":
        (tmp_path / "data").mkdir()
        yield Shell(["--data", str(tmp_path / "data")], capsys, monkeypatch)
        return
    config = HostConfig(log=LogConfig(durability="file"))
    with BrokerHost(tmp_path / "data", config) as host, HttpListener(host) as listener:
        yield Shell(["--broker", listener.url], capsys, monkeypatch)


def started(*words: str, **options: Any) -> Process:
    """A command as a process of its own, with pipes where `options` say nothing else."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return Process([sys.executable, "main.py", *words], cwd=ROOT, **pipes)


@contextmanager
def served(*words: str, start: Any = started) -> Iterator[tuple[dict[str, Any], Process]]:
    """A broker in a process of its own: where its listeners are, and the process, which `start` starts."""
    process = start("serve", "--http", "0", "--json", *words, text=True)
    line = process.stdout.readline()
    assert line, process.stderr.read()
    try:
        yield json.loads(line), process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(timeout=20)


def run(*words: str, capsys: Any) -> str:
    """What a command that must succeed writes to standard output."""
    capsys.readouterr()
    assert main(list(words)) == 0
    return str(capsys.readouterr().out)
