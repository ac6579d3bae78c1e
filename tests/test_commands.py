"""Every command as a user calls it: a process of its own, what it prints, how it ends."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from app.cli.main import main
from tests import long_form, processes

ROOT = Path(__file__).resolve().parents[1]


def call(
    *arguments: object, start: Callable[..., subprocess.CompletedProcess[str]] = processes.run, **options: object
) -> subprocess.CompletedProcess[str]:
    return start(
        [sys.executable, str(ROOT / "main.py"), *map(str, arguments)],
        **{"capture_output": True, "text": True, "timeout": 280, "check": False, **options},
    )


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def say(capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """Calls the command in this process: a process for each sentence would cost a second."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Said:
        try:
            code = main(list(map(str, arguments)))
        except SystemExit as end:
            code = int(end.code or 0)
        told = capsys.readouterr()
        return Said(code, told.out, told.err)

    return run


def test_a_process_says_what_main_says(say: Callable[..., Said], tmp_path: Path) -> None:
    done = call("run", "no-such-scenario", cwd=tmp_path, start=subprocess.run)
    assert (done.returncode, done.stdout, done.stderr) == say("run", "no-such-scenario")


@pytest.mark.parametrize("command", [[], ["run"], ["report"], ["shot"]])
def test_every_command_has_help(say: Callable[..., Said], command: list[str]) -> None:
    done = say(*command, "--help")
    assert done.code == 0
    assert done.out.startswith("usage: brokerscope")


def test_run_ends_with_a_summary_as_json(tmp_path: Path) -> None:
    done = call("run", "first-session", "--until", 5, "--session", tmp_path / "session")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    wanted = "published delivered acknowledged dead_lettered redelivered rejected dropped rebalances events"
    assert set(wanted.split()) | {"virtual_s", "wall_s", "session"} <= set(summary)
    assert summary["published"] > 50
    assert summary["rebalances"] >= 3
    assert summary["virtual_s"] == 5.0
    assert summary["session"] == str(tmp_path / "session")
    assert (tmp_path / "session" / "session.json").is_file()


def test_the_same_seed_gives_the_same_run_and_another_seed_another(tmp_path: Path) -> None:
    def run(name: str, seed: int, hash_seed: str) -> dict[str, object]:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = call(
            *("run", "first-session", "--until", 20, "--seed", seed, "--session", tmp_path / name),
            env=environment,
            start=subprocess.run if hash_seed else processes.run,
        )
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout.splitlines()[-1])
        return {name: value for name, value in summary.items() if name not in {"wall_s", "session"}}

    first = run("first", 3, "1")
    assert run("again", 3, "2") == first
    assert run("other", 4, "") != first


def wait_for_events(sessions: Path, pattern: str) -> Path:
    """The folder of the session of that pattern, once it has recorded something."""
    deadline_s = time.monotonic() + 60
    while not any(path.stat().st_size for path in sessions.glob(f"{pattern}/tail/*.arrow")):
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
    (folder,) = sessions.glob(pattern)
    return folder


def start_paced_run(folder: Path) -> processes.Process:
    """A run at the speed of the wall clock that has recorded something."""
    command = [sys.executable, str(ROOT / "main.py"), "run", "first-session", "--speed", "1", "--session", str(folder)]
    process = processes.Process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_events(folder.parent, folder.name)
    return process


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "kill"])
def test_a_paced_run_takes_its_time_and_ends_well_when_it_is_told_to(tmp_path: Path, how: signal.Signals) -> None:
    process = start_paced_run(tmp_path / "s")
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[how], err
    summary = json.loads(out.splitlines()[-1])
    assert summary["ended"] == "stopped"
    assert summary["virtual_s"] < 30
    assert json.loads((tmp_path / "s" / "session.json").read_text())["ended"] == "stopped"


WINDOW = """
from app.cli.main import main
class Seen:
    def __del__(self):
        print("taken apart")
seen = Seen()
raise SystemExit(main([]))
"""


@pytest.mark.parametrize("how", long_form.some(["SIGINT", "SIGTERM"], {"SIGTERM"}))
def test_a_window_that_is_told_to_end_seals_its_recording_and_takes_nothing_apart(tmp_path: Path, how: str) -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}
    process = processes.Process(
        [sys.executable, "-c", WINDOW], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    folder = wait_for_events(tmp_path, "brokerscope/sessions/*")
    process.send_signal(signal.Signals[how])
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert not out, "the end takes seconds if every widget is taken apart"
    assert json.loads((folder / "session.json").read_text())["ended"] == "stopped"


@pytest.mark.spark
@pytest.mark.long
def test_a_run_that_was_killed_is_made_whole_and_reported(tmp_path: Path) -> None:
    process = start_paced_run(tmp_path / "s")
    process.kill()
    process.communicate(timeout=60)
    assert json.loads((tmp_path / "s" / "session.json").read_text())["ended"] == "running"
    only = ("--parts", "throughput")
    made = call("report", tmp_path / "s", "--out", tmp_path / "r", *only)
    assert made.returncode == 3, made.stderr
    assert json.loads((tmp_path / "s" / "session.json").read_text())["ended"] == "crashed"
    assert "died while recording" in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "no-such-scenario"), "one of: first-session"),
        (("run", "."), "is a folder"),
        (("no-such-scenario",), "brokerscope scenarios list"),
        (("shot", "nothing", "--at", "1", "out.png"), "one of: first-session"),
        (("report", "nowhere", "--out", "out"), "nowhere"),
        (("run", "first-session", "--until", "soon"), "--until"),
        (("run", "first-session", "--until", "-1"), "--until"),
        (("run", "first-session", "--speed", "0"), "--speed"),
        (("run", "first-session", "--speed", "abc"), "'abc' is not a number above 0, nor max"),
        (("shot", "first-session", "--at", "1", "--size", "big", "out.png"), "size"),
        (("shot", "first-session", "--at", "1", "--size", "10x10", "out.png"), "from 960x640"),
        (("shot", "first-session", "--at", "1", "shot.jpg"), "shot.jpg must end with .png"),
        (("shot", "first-session", "--at", "9999", "out.png"), "first-session ends at 300 s"),
        (("shot", "your-own-cluster", "--at", "20", "out.png"), "your-own-cluster has a cluster of its own and is not"),
        (
            ("shot", "first-session", "--at", "1", "no/folder/out.png"),
            "There is no folder no/folder to write out.png into",
        ),
        (("shot", "first-session", "--at", "1", "."), "is a folder; name a file in it, such as window.png"),
    ],
)
def test_a_wrong_call_is_one_clear_sentence(say: Callable[..., Said], arguments: tuple[str, ...], words: str) -> None:
    done = say(*arguments)
    assert done.code != 0
    assert words in done.err
    assert "Traceback" not in done.err + done.out


def test_a_wrong_key_in_a_scenario_names_its_line(say: Callable[..., Said], tmp_path: Path) -> None:
    scenario = tmp_path / "mine.yaml"
    scenario.write_text("title: Mine\nabout: x\nuntil_s: 1\ntopcis: []\n")
    done = say("run", scenario)
    assert done.code != 0
    assert done.err.strip() == (
        "brokerscope: mine.yaml, line 4: the key 'topcis' is not known here; did you mean 'topics'?"
    )


def test_a_session_folder_that_is_in_use_is_refused(say: Callable[..., Said], tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thing.txt").write_text("keep")
    done = say("run", "first-session", "--until", 1, "--session", tmp_path / "precious")
    assert done.code != 0
    assert "The folder is not empty, and nothing in it will be overwritten" in done.err
    assert (tmp_path / "precious" / "thing.txt").read_text() == "keep"


def test_a_broken_data_file_is_named(say: Callable[..., Said], tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"time": 1}\nbroken\n')
    (tmp_path / "mine.yaml").write_text(
        "title: Mine\nabout: x\nuntil_s: 1\ntopics: [{name: t}]\n"
        "producers: [{name: p, to: t, arrivals: {kind: file, file: rows.jsonl}}]\n"
    )
    done = say("run", tmp_path / "mine.yaml", "--session", tmp_path / "s")
    assert done.code != 0
    assert "rows.jsonl, line 2: this is not JSON" in done.err
    assert "Traceback" not in done.err


@pytest.mark.spark
@pytest.mark.long
def test_report_of_a_run_is_a_page_and_tables_that_agree_with_the_summary(tmp_path: Path) -> None:
    done = call("run", "first-session", "--until", 30, "--session", tmp_path / "s")
    summary = json.loads(done.stdout.splitlines()[-1])
    made = call("report", tmp_path / "s", "--out", tmp_path / "r")
    assert made.returncode == 0, made.stderr
    page = tmp_path / "r" / "report.html"
    assert made.stdout.strip() == str(page)
    assert "First session" in page.read_text(encoding="utf-8")
    totals = dict(row.split(",") for row in (tmp_path / "r" / "tables" / "totals.csv").read_text().splitlines()[1:])
    assert {name: int(value) for name, value in totals.items()} == {name: summary[name] for name in totals}
    assert (tmp_path / "r" / "tables" / "totals.parquet").is_file()
    # The folder of the session is read, never written.
    assert not (tmp_path / "s" / "spark-warehouse").exists()


def test_shot_draws_the_window_at_a_second_the_same_twice(tmp_path: Path) -> None:
    def shot(name: str, second: int) -> bytes:
        out = tmp_path / f"{name}.png"
        done = call("shot", "first-session", "--at", second, "--size", "1000x700", "--theme", "dark", out)
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == str(out)
        return out.read_bytes()

    first = shot("a", 12)
    assert struct.unpack(">II", first[16:24]) == (1000, 700)
    assert shot("b", 12) == first
    assert not long_form.on or shot("c", 13) != first


@pytest.mark.long
def test_shot_draws_the_window_as_it_is_by_default(tmp_path: Path) -> None:
    assert call("shot", "first-session", "--at", 12, tmp_path / "window.png").returncode == 0
    assert struct.unpack(">II", (tmp_path / "window.png").read_bytes()[16:24]) == (1600, 1000)


def test_the_window_without_a_display_says_how_to_go_on() -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    }
    done = call(env=environment)
    assert done.returncode != 0
    assert done.stderr.strip() == (
        "brokerscope: There is no display to open a window on; continue without one: brokerscope run first-session"
    )


def test_a_python_without_the_packages_is_told_what_to_do() -> None:
    # -S and -I leave out site-packages, as the system's Python does.
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import runpy, sys; sys.path[:0] = [{str(ROOT)!r}]; runpy.run_path('main.py')"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "is not installed; run make setup" in done.stderr
    assert "Traceback" not in done.stderr
