"""How commands end, what their codes say, where tokens come from, and what is asked for again."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import resources
from app.cli.credentials import TOKEN_VARIABLE
from app.cli.main import main
from app.environment.exits import Exit
from tests.app.cli.conftest import ROOT, Shell, run, served, started

TOKEN = "correct-horse-battery"


def test_the_guide_and_every_help_have_the_table_of_codes(capsys: Any) -> None:
    guide = resources.path("guides", "command-line.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| (\d+) \| (.+) \|$", guide, re.MULTILINE))
    assert told == {str(code.value): code.about for code in Exit}
    for words in ((), ("serve",), ("consume",), ("produce",), ("topics",), ("dlq",)):
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        shown = " ".join(capsys.readouterr().out.split())
        assert all(f"{code.value} {code.about}" in shown for code in Exit), words


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP])
def test_who_is_ended_politely_leaves_its_group(capsys: Any, end: signal.Signals) -> None:
    with served() as (where, _process):
        broker = ("--broker", where["http"])
        run("topics", "create", "orders", *broker, capsys=capsys)
        run("produce", "orders", "a", *broker, capsys=capsys)
        words = ("consume", "orders", "--group", "billing", *broker)
        reader = started(*words, text=True)
        assert reader.stdout.readline() == "orders/0 @0  a\n"
        reader.send_signal(end)
        _out, error = reader.communicate(timeout=20)
        assert (reader.returncode, "Traceback" in error) == (128 + end, False)
        group = json.loads(run("groups", "describe", "billing", "--json", *broker, capsys=capsys))
        assert (group["state"], group["members"]) == ("Empty", 0)


@pytest.mark.promise("37")
@pytest.mark.parametrize("given", ["environment", "file"])
def test_promise_37_a_token_is_in_no_argument_list_and_nothing_written(
    tmp_path: Path, capsys: Any, monkeypatch: Any, given: str
) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    if given == "environment":
        monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    words = ("--token-file", str(tmp_path / "token")) if given == "file" else ()
    data = tmp_path / "data"

    def unforked(*command: str, **options: Any) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([sys.executable, "main.py", *command], cwd=ROOT, **pipes)

    with served("--data", str(data), *words, start=unforked) as (where, process):
        broker = ("--broker", where["http"])
        assert main(["topics", "create", "orders", *broker, *words]) == Exit.DONE
        assert main(["http-produce", "--broker", where["http"], "--topic", "t", "--count", "1", *words]) == Exit.DONE
        monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
        assert main(["topics", "list", *broker]) == Exit.REFUSED
        commands = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        assert b"serve" in commands
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=20)
    told = capsys.readouterr()
    assert TOKEN.encode() not in commands
    assert TOKEN not in (out + error + told.out + told.err)
    written = [path for path in data.rglob("*") if path.is_file()]
    assert written and not [path for path in written if TOKEN.encode() in path.read_bytes()]


def test_a_token_on_the_command_line_is_warned_of(tmp_path: Path, capsys: Any) -> None:
    main(["topics", "list", "--broker", "127.0.0.1:1", "--token", TOKEN])
    told = capsys.readouterr().err
    assert "can see a token on the command line" in told and TOKEN not in told
    (tmp_path / "empty").write_text("\n")
    assert main(["serve", "--token-file", str(tmp_path / "empty")]) == Exit.USAGE
    assert main(["serve", "--token-file", str(tmp_path / "none")]) == Exit.NOT_FOUND
    assert main(["serve", "--token-file", str(tmp_path / "empty"), "--token", TOKEN]) == Exit.USAGE
    assert TOKEN not in capsys.readouterr().err


class Terminal(io.StringIO):
    """Somebody types there."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (("topics", "delete", "t"), "Delete t with 2 messages in 1 partition?"),
        (("topics", "delete-records", "t", "--before", "1"), "Delete 1 message of t?"),
        (("queues", "delete", "q"), "Delete q with 1 message and 0 dead letters?"),
        (("queues", "purge", "q"), "Take 1 message out of q?"),
        (("dlq", "purge", "q", "--all"), "Take 0 dead letters of q out?"),
        (("groups", "delete", "g"), "Forget g and its offsets in 1 partition?"),
        (("schemas", "delete", "s"), "Delete all versions of s?"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_what_destroys_asks_at_a_terminal(
    shell: Shell, words: tuple[str, ...], asked: str, monkeypatch: Any, capsys: Any
) -> None:
    shell("topics", "create", "t")
    shell("produce", "t", "a", "b")
    shell("queues", "create", "q")
    shell("produce", "q", "a")
    shell("consume", "t", "--group", "g", "--count", 1)
    shell("schemas", "register", "s", "-", typed="{}")
    before = [shell(kind, "list") for kind in ("topics", "queues", "groups", "schemas")]
    with monkeypatch.context() as patched:
        patched.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        for typed in ("n\n", "\n", ""):
            patched.setattr(sys, "stdin", Terminal(typed))
            assert shell(*words) == ""
            assert (shell.code, shell.error) == (Exit.PARTLY, f"{asked} [y/N] Nothing was changed.\n")
        patched.setattr(sys, "stdin", io.StringIO())
    assert [shell(kind, "list") for kind in ("topics", "queues", "groups", "schemas")] == before
    with monkeypatch.context() as patched:
        patched.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        patched.setattr(sys, "stdin", Terminal("yes\n") if "delete" in words[1] else Terminal("n\n"))
        assert shell(*words, *(() if "delete" in words[1] else ("--yes",))) != ""
        assert shell.code == Exit.DONE


def test_a_program_is_not_asked(shell: Shell) -> None:
    shell("topics", "create", "t")
    assert shell("topics", "delete", "t", typed="") == "Deleted t.\n"
