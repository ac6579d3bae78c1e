"""A program under test beside a broker: a command as a process, or a function in a thread."""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import os
import shlex
import signal
import subprocess
import threading
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from broker_core.closable import Closable
from broker_core.engine.host import Host
from broker_core.errors import BrokerError, ErrorCode

MAX_LINES = 1_000
LAST_LINES = 20
END_S = 5.0

Command = str | Sequence[str]
Note = tuple[int, str]  # session time in nanoseconds, and a line


class ProgramEndedError(RuntimeError):
    """A program under test has died; the text holds its traceback or its last lines."""


class Program(Closable):
    """A program that `EmbeddedBroker.run` has started. It is stopped when the broker is closed, or a `with` block ends.

    Its output is in `output`, and in the timeline of a failing test. If it dies by itself, with a traceback or an exit
    code other than 0, all waits of the broker fail with `ProgramEndedError`, those that come later as well.
    """

    def __init__(self, host: Callable[[], Host], name: str) -> None:
        """`host()` is the present host of the broker."""
        self.name = name
        self._host = host
        self._notes: deque[Note] = deque(maxlen=MAX_LINES)
        self._lines: deque[str] = deque(maxlen=MAX_LINES)
        self._ended = threading.Event()
        self._stopping = False
        self.error: ProgramEndedError | None = None
        self._told = False

    # -- what a kind of program does

    def _start(self) -> None:
        raise TypeError(f"{type(self).__name__} has no _start")

    def _end(self, *, kill: bool) -> None:
        raise TypeError(f"{type(self).__name__} has no _end")

    # -- life

    def start(self) -> None:
        """Start it. It must not be running."""
        self._stopping, self._told, self.error = False, False, None
        self._ended.clear()
        self._note(f"{self.name} starts")
        self._start()

    def stop(self, timeout_s: float = END_S) -> None:
        """End it as a person or a supervisor does: SIGTERM to a process, SIGKILL after `timeout_s`.

        A function with an argument `stop` has that event set; in another SystemExit is raised. Raises
        REQUEST_TIMED_OUT if a function does not end.
        """
        if not self._ended.is_set():
            self._stopping = True
            self._end(kill=False)
            if not self._ended.wait(timeout_s):
                self._end(kill=True)
                if not self._ended.wait(END_S):
                    raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"{self.name} did not end after it was stopped")

    def kill(self) -> None:
        """End a process as by `kill -9`, with all that it has started. Raises INVALID_REQUEST for a function."""
        if not self._ended.is_set():
            self._stopping = True
            self._end(kill=True)
            self._ended.wait()

    def restart(self) -> None:
        """Start it again; one that runs is stopped first."""
        self.stop()
        self.start()

    def wait(self, timeout_s: float = 30.0) -> None:
        """Wait until it has ended by itself. Raises ProgramEndedError, and REQUEST_TIMED_OUT."""
        if not self._ended.wait(timeout_s):
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"{self.name} is still running after {timeout_s:g} s")
        self.check()

    def check(self) -> None:
        """Raises ProgramEndedError if it has died."""
        if self.error is not None:
            self._told = True
            raise self.error

    def check_told(self) -> None:
        """`check`, unless its error was raised before."""
        if not self._told:
            self.check()

    def close(self) -> None:
        """`stop`."""
        self.stop()

    @property
    def is_running(self) -> bool:
        """Whether it runs."""
        return not self._ended.is_set()

    @property
    def output(self) -> str:
        """The last thousand lines that it has written."""
        return "\n".join(self._lines)

    @property
    def notes(self) -> list[Note]:
        """The program's output and how it ended, with session times."""
        return list(self._notes)

    def _note(self, text: str) -> None:
        self._notes.append((self._host().now_ns, text))

    def _written(self, line: str) -> None:
        self._lines.append(line)
        self._note(f"{self.name} | {line}")

    def _has_ended(self, how: str, *, failed: bool) -> None:
        self._note(f"{self.name} {how}")
        if failed and not self._stopping:
            last = "\n".join(list(self._lines)[-LAST_LINES:]) or "It wrote no output."
            self.error = ProgramEndedError(f"{self.name} {how}\n{last}")
            self._told = self._fail_waits(self.error)
        self._ended.set()

    def _fail_waits(self, error: ProgramEndedError) -> bool:
        """Whether there was one."""
        host = self._host()
        try:
            return host.call(lambda _now: host.broker.conditions.fail(error))
        except BrokerError:  # it is closed
            return False


class CommandProgram(Program):
    """A command as a process of its own, with the children that it starts."""

    def __init__(
        self,
        host: Callable[[], Host],
        command: Command,
        environment: Mapping[str, str],
        folder: Path | str | None,
        name: str,
    ) -> None:
        self._arguments = shlex.split(command) if isinstance(command, str) else [str(each) for each in command]
        if not self._arguments:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "an empty command; say what to run")
        super().__init__(host, name or Path(self._arguments[0]).name)
        self._environment, self._folder = environment, folder
        self._process: subprocess.Popen[str] | None = None

    @property
    def exit_code(self) -> int | None:
        """None while it runs; below 0 the number of the signal that has ended it."""
        return None if self._process is None else self._process.poll()

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(
                self._arguments,
                cwd=self._folder,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **self._environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            self._ended.set()
            about = f"{self._arguments[0]!r} cannot be started: {error.strerror}"
            raise BrokerError(ErrorCode.INVALID_REQUEST, about) from None
        threading.Thread(target=self._read, args=(self._process,), name=self.name, daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                self._written(line.rstrip("\n"))
        code = process.wait()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        self._has_ended(how, failed=code != 0)

    def _end(self, *, kill: bool) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL if kill else signal.SIGTERM)


class FunctionProgram(Program):
    """A function in a thread."""

    def __init__(
        self, host: Callable[[], Host], function: Callable[..., object], arguments: Sequence[Any], name: str
    ) -> None:
        super().__init__(host, name or getattr(function, "__name__", "program"))
        self._function, self._arguments = function, tuple(arguments)
        self._asks_to_stop = "stop" in _parameters(function)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def _start(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._live, name=self.name, daemon=True)
        self._thread.start()

    def _live(self) -> None:
        how, failed = "has returned", False
        try:
            self._function(*self._arguments, **({"stop": self._stop} if self._asks_to_stop else {}))
        except SystemExit:
            how = "was stopped"
        except BaseException as error:
            how, failed = f"has failed with {type(error).__name__}", True
            for line in traceback.format_exc().splitlines():
                self._written(line)
        self._has_ended(how, failed=failed)

    def _end(self, *, kill: bool) -> None:
        if kill and not self._stop.is_set():
            about = (
                f"{self.name} is a function, which cannot be killed; run a command, as in run([sys.executable, ...])"
            )
            raise BrokerError(ErrorCode.INVALID_REQUEST, about)
        self._stop.set()
        if self._thread is not None and self._thread.ident is not None and (kill or not self._asks_to_stop):
            # Raised when the thread comes back from the call that it is in.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident), ctypes.py_object(SystemExit))


def _parameters(function: Callable[..., object]) -> Sequence[str]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # a builtin
        return ()
