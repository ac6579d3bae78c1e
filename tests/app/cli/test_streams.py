"""Who reads no further, closes a stream, has a full disk or presses Ctrl+C gets no traceback, but a code that tells."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from app.cli import topics
from app.cli.main import main
from app.environment.exits import Exit
from broker_core import Admin, BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from tests.app.cli.conftest import ROOT, started


@pytest.mark.parametrize("words", ["--help", "topics create --help", "scenarios describe hot-key"])
def test_a_reader_that_has_seen_enough_is_no_error(words: str) -> None:
    writing = started(*words.split(), text=True)
    assert writing.stdout.readline().endswith("\n")
    writing.stdout.close()
    assert (writing.stderr.read(), writing.wait(60) in {0, 141}) == ("", True)


def test_a_full_disk(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        command = started("metrics", "list", "--data", str(tmp_path), stdout=full, text=True)
    told = (command.stderr.read(), command.wait(60))
    assert told == ("brokerscope: No space left on device\n", Exit.REFUSED)


def test_streams_that_the_shell_has_closed(tmp_path: Path) -> None:
    with BrokerHost(tmp_path) as host:
        Admin(host).create_topic("t")
    line = f"{sys.executable} main.py produce t --data {tmp_path} <&- >&- 2>&-"
    done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("words", "closed", "code"),
    [
        (("topics", "create", "t"), {"stdout"}, Exit.DONE),
        (("topics", "list"), {"stdout"}, Exit.DONE),
        (("nonsense",), {"stdout", "stderr"}, Exit.USAGE),
    ],
)
def test_what_is_closed_is_no_error(
    words: tuple[str, ...], closed: set[str], code: Exit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in closed:
        monkeypatch.setattr(sys, name, None)
    assert main([*words, *(("--data", str(tmp_path)) if code is Exit.DONE else ())]) == code


def test_signs_that_the_terminal_has_not_are_one_sentence(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    words = ("topics", "list", "--data", f"{tmp_path}/\N{LATIN SMALL LETTER U WITH DIAERESIS}", "--json")
    done = subprocess.run(
        [sys.executable, "main.py", *words], cwd=ROOT, capture_output=True, text=True, check=False, env=environment
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == Exit.NOT_FOUND and done.stderr.count("\n") == 1


def broken(error: BaseException) -> None:
    """As it is where Ctrl+C breaks off what then fails in its own way."""
    try:
        try:
            raise KeyboardInterrupt
        finally:
            raise error
    except KeyboardInterrupt:
        raise AssertionError from None


@pytest.mark.parametrize("error", [RuntimeError("un-acquired lock"), BrokerError(ErrorCode.CONNECTION_LOST, "x")])
def test_what_fails_because_it_was_interrupted_is_an_interruption(
    error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    monkeypatch.setattr(topics, "_list", lambda _host, _options: broken(error))
    assert main(["topics", "list", "--data", str(tmp_path)]) == 130
    assert capsys.readouterr().err == ""


def test_a_fault_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(_host: object, _options: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(topics, "_list", fail)
    with pytest.raises(RuntimeError, match="ours"):
        main(["topics", "list", "--data", str(tmp_path)])


def test_ctrl_c_ends_a_picture_at_once_though_qt_has_the_word(tmp_path: Path) -> None:
    words = ["shot", "first-session", "--at", "300", str(tmp_path / "out.png")]
    drawing = subprocess.Popen([sys.executable, "main.py", *words], cwd=ROOT, stderr=subprocess.PIPE)
    maps = Path(f"/proc/{drawing.pid}/maps")
    deadline_s = time.monotonic() + 60
    while "QtWidgets" not in maps.read_text():
        assert time.monotonic() < deadline_s and drawing.poll() is None
        time.sleep(0.02)
    drawing.send_signal(signal.SIGINT)
    _, told = drawing.communicate(timeout=20)
    assert (told, drawing.returncode) == (b"", -signal.SIGINT)
    assert not (tmp_path / "out.png").exists()
