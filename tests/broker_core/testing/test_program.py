"""Programs under test: processes and functions, their end, and what a failing test tells of them."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.testing.embedded_broker import EmbeddedBroker
from broker_core.testing.program import CommandProgram, ProgramEndedError

PYTHON = (sys.executable, "-S", "-c")
# Says that it is there, and ends at SIGTERM.
WAITS = "import signal, sys; signal.signal(15, lambda *_: sys.exit(0)); print('ready'); signal.pause()"
IGNORES = "import signal; signal.signal(15, signal.SIG_IGN); print('ready')\nwhile True: signal.pause()"


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        yield broker


def until_written(program: CommandProgram, line: str) -> None:
    ends_s = time.monotonic() + 20
    while line not in program.output and time.monotonic() < ends_s:
        threading.Event().wait(0.002)
    assert line in program.output


def command(broker: EmbeddedBroker, code: str, **settings: object) -> CommandProgram:
    program = broker.run([*PYTHON, code], **settings)  # type: ignore[arg-type]
    assert isinstance(program, CommandProgram)
    return program


def test_a_command_finds_the_broker_in_its_environment(broker: EmbeddedBroker) -> None:
    code = "import os; print(os.environ['KAFKA_BOOTSTRAP_SERVERS'], os.environ['ADDRESS'])"
    program = command(broker, code, env={"ADDRESS": "kafka://{bootstrap_servers}"}, name="billing")
    program.wait()
    assert program.output == f"{broker.bootstrap_servers} kafka://{broker.bootstrap_servers}"
    assert program.exit_code == 0
    told = broker.timeline()
    assert re.search(r"\d s billing starts\n.* s billing \| 127.*\n.* s billing ended with exit code 0", told)


def test_a_wait_fails_at_once_with_the_last_lines_of_a_process_that_dies(broker: EmbeddedBroker) -> None:
    broker.create_topic("orders")
    command(broker, "print('connected'); raise ValueError('no database')", name="billing")
    with pytest.raises(ProgramEndedError) as died:
        broker.wait_until("topic = orders and messages = 1", timeout_s=60)
    assert str(died.value).startswith("billing ended with exit code 1\nconnected\nTraceback")
    assert str(died.value).endswith("ValueError: no database")
    # A later wait fails, too, unless it holds already.
    with pytest.raises(ProgramEndedError):
        broker.wait_until("topic = orders and messages = 1", timeout_s=60)
    assert broker.wait_until("topic = orders and messages = 0")


def test_a_wait_fails_at_once_with_the_traceback_of_a_function(broker: EmbeddedBroker) -> None:
    def billing(amount: str) -> None:
        int(amount)

    broker.run(billing, "much")
    with pytest.raises(ProgramEndedError, match=r"billing has failed with ValueError\n(.|\n)*int\(amount\)"):
        broker.wait_until("kind = published", timeout_s=60)


def test_a_death_that_nobody_has_waited_for_is_told_at_the_end() -> None:
    with pytest.raises(ProgramEndedError, match="exit code 3"), EmbeddedBroker() as broker:
        program = broker.run([*PYTHON, "raise SystemExit(3)"])
        with pytest.raises(BrokerError, match="still running"):
            program.wait(0)
        while program.is_running:
            threading.Event().wait(0.002)


def test_what_is_killed_or_stopped_is_no_failure(broker: EmbeddedBroker) -> None:
    killed, stopped = command(broker, WAITS), command(broker, WAITS)
    for program in (killed, stopped):
        until_written(program, "ready")
    killed.kill()
    stopped.stop()
    assert (killed.exit_code, stopped.exit_code) == (-9, 0)
    assert killed.notes[-1][1].endswith("was ended by SIGKILL")
    killed.restart()
    assert killed.is_running
    with pytest.raises(TimeoutError):
        broker.wait_until("kind = published", timeout_s=0)


def test_what_does_not_stop_is_killed(broker: EmbeddedBroker) -> None:
    program = command(broker, IGNORES)
    until_written(program, "ready")
    program.stop(0.01)
    assert program.exit_code == -9


def test_its_children_end_with_it(broker: EmbeddedBroker) -> None:
    """A shell, npm and the like start the program itself."""
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', {WAITS!r}]).wait()"
    program = command(broker, code)
    until_written(program, "ready")
    program.kill()  # would wait for the child, which has the output, too
    assert not program.is_running


def test_a_function_is_stopped_by_its_event_or_at_its_next_line(broker: EmbeddedBroker) -> None:
    ends: list[str] = []
    begun = threading.Barrier(3)

    def polite(stop: threading.Event) -> None:
        begun.wait()
        stop.wait()
        ends.append("polite")

    def endless() -> None:
        try:
            begun.wait()
            while True:
                threading.Event().wait(0.001)
        finally:
            ends.append("endless")

    programs = [broker.run(polite), broker.run(endless)]
    begun.wait()
    with pytest.raises(BrokerError, match="cannot be killed; run a command"):
        programs[0].kill()
    for program in programs:
        program.stop()
        assert not program.is_running
    assert ends == ["polite", "endless"]


def test_closing_the_broker_stops_its_programs() -> None:
    with EmbeddedBroker() as broker:
        program = command(broker, WAITS)
        until_written(program, "ready")
    assert program.exit_code == 0


def test_what_cannot_be_started_is_said(broker: EmbeddedBroker) -> None:
    for wrong, told in (("no-such-program --x", "'no-such-program' cannot be started: No such file"), ("", "an empty")):
        with pytest.raises(BrokerError, match=told) as refused:
            broker.run(wrong)
        assert refused.value.code is ErrorCode.INVALID_REQUEST
    with pytest.raises(BrokerError, match="a function has no environment"):
        broker.run(print, env={"A": "B"})
