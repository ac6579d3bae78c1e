"""Commands in processes of their own that start in a tenth of the time: forked from one that has loaded the program.

`Process` is `subprocess.Popen` in every other way: the process is our child, has its own streams, folder, environment
and signals, and ends as an interpreter does. What is tested about loading itself starts `subprocess.Popen`.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOADED = (
    "app.cli.run",
    "app.cli.scenarios",
    "broker_core.listeners.http.listener",
    "broker_core.listeners.kafka.listener",
)
_PR_SET_CHILD_SUBREAPER = 36
_MOST_BYTES = 200_000


@contextlib.contextmanager
def _adopting() -> Iterator[None]:
    """Processes whose parent ends are our children: that is how new ones become ours."""
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


class _Parent:
    """The process that they are forked from; it ends with us."""

    def __init__(self) -> None:
        self._line, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        with other:
            self._process = subprocess.Popen([sys.executable, "-m", "tests.processes"], stdin=other.fileno(), cwd=ROOT)

    def fork(self, words: Sequence[str], cwd: str, environment: dict[str, str], streams: Sequence[int]) -> int:
        """The id of a new process."""
        asked = json.dumps([list(words), cwd, environment]).encode()
        assert len(asked) < _MOST_BYTES
        with self._lock, _adopting():
            socket.send_fds(self._line, [asked], streams)
            return int(self._line.recv(100))


_parent: _Parent | None = None


_started: list[Process] = []


class Process(subprocess.Popen[Any]):
    """`[sys.executable, "main.py", ...]`, another script, `-m` and a module, or `-c` and a text."""

    stdin: Any
    stdout: Any
    stderr: Any

    def _execute_child(  # as in `subprocess`
        self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags, shell,
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, *rest,
    ) -> None:  # fmt: skip
        global _parent  # noqa: PLW0603
        program, *words = map(os.fspath, args)
        assert program == sys.executable
        if _parent is None:
            _parent = _Parent()
        streams = [own if given == -1 else given for own, given in enumerate((p2cread, c2pwrite, errwrite))]
        environment = dict(os.environ if env is None else env)
        try:
            self.pid = _parent.fork(words, os.path.abspath(cwd or os.curdir), environment, streams)
            self._child_created = True
            _started.append(self)
        finally:
            self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]


if sys.platform != "linux":
    Process = subprocess.Popen  # type: ignore[misc,assignment]


def end_all() -> None:
    """End those that a test has left."""
    for process in _started:
        if process.poll() is None:
            process.kill()
            process.wait()
    _started.clear()


def run(words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[Any]:
    """As `subprocess.run`."""
    check, given, timeout = options.pop("check", False), options.pop("input", None), options.pop("timeout", None)
    if options.pop("capture_output", False):
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if given is not None:
        options["stdin"] = subprocess.PIPE
    with Process(words, **options) as process:
        try:
            out, err = process.communicate(given, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(words, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def _fork() -> tuple[int, int]:
    """The id of a process that is nobody's child, and 0 in it."""
    reading, writing = os.pipe()
    between = os.fork()
    if between:
        os.close(writing)
        os.waitpid(between, 0)
        with open(reading, "rb") as file:
            return int(file.read()), 0
    os.close(reading)
    if pid := os.fork():
        os.write(writing, b"%d" % pid)
        os._exit(0)
    os.close(writing)
    return 0, os.getpid()


def _serve() -> list[str]:
    """Fork whenever that is asked for. Returns in each new process, what it is to run."""
    from app.cli.main import COMMANDS

    for parser in COMMANDS.values():
        parser()
    for name in LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    line = socket.socket(fileno=os.dup(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        asked, streams, *_ = socket.recv_fds(line, _MOST_BYTES, 3)
        if not asked:
            os._exit(0)
        pid, own = _fork()
        if own:
            break
        for stream in streams:
            os.close(stream)
        line.send(b"%d" % pid)
    line.close()
    words, cwd, environment = json.loads(asked)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    return list(words)


def _run(words: list[str]) -> None:
    kind = words[0] if words[0] in {"-m", "-c"} else ""
    sys.argv[:] = [kind, *words[2:]] if kind else words
    sys.path[0] = os.getcwd() if kind else os.path.dirname(os.path.abspath(words[0]))
    if kind == "-m":
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        exec(words[1], {"__name__": "__main__"})
    else:
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    _run(_serve())
