"""A report takes the place of an earlier one, and of nothing else that a person has there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from spark_reports.errors import Busy, ReportError
from spark_reports.jobs.report import Report
from spark_reports.output.delivery import JUNIT, REPORT, SCHEMA, TABLES, clear, delivery
from spark_reports.request.assertions import AssertionVerdict
from spark_reports.request.request import FORMATS
from tests.spark_reports.page.tables_by_hand import made, only, rows_of
from tests.spark_reports.page.test_page import info

_GONE = 2**22 + 1  # Linux numbers no process so


def _deliver(out: Path, *formats: str) -> None:
    whole = only(made(), frozenset({"totals"}))
    report = Report(info(), whole, rows_of(whole), [], [AssertionVerdict("lag < 5", True, "lag is 4")])
    with delivery(out) as folder:
        report.write(folder, frozenset(formats))


def test_a_report_of_all_formats_gives_way_to_each_single_format_and_back(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _deliver(out, *FORMATS)
    assert {path.name for path in out.iterdir()} == {REPORT, TABLES, JUNIT, SCHEMA}
    shutil.copytree(out, tmp_path / "all")
    for name in FORMATS:
        _deliver(out, name)
        assert len([path for path in out.iterdir() if path.name not in (JUNIT, SCHEMA)]) == 1, name
        shutil.rmtree(out)
        shutil.copytree(tmp_path / "all", out)
    _deliver(out, "html")
    _deliver(out, *FORMATS)
    assert {path.name for path in out.iterdir()} == {REPORT, TABLES, JUNIT, SCHEMA}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all", "out"]


@pytest.mark.parametrize(
    "name",
    [
        "thesis.txt", "notes/day.txt", ".hidden", "tables/mine.csv", "tables/totals.txt", "tables/deep/totals.csv",
        "pictures/holiday.png", "report.pdf",
    ],
)  # fmt: skip
def test_what_a_person_put_into_a_report_stays(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _deliver(out, "html", "csv")
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_text("irreplaceable")
    page = (out / REPORT).read_bytes()
    with pytest.raises(ReportError, match=r"contains something other than a report, .*: choose another folder\.$"):
        _deliver(out, "html")
    assert (out / name).read_text() == "irreplaceable" and (out / REPORT).read_bytes() == page


def test_a_second_report_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / f"out.partial-{os.getppid()}").mkdir()
    with pytest.raises(Busy, match="Another report is being made in"):
        _deliver(out, "html")
    assert not out.exists() and [path.name for path in tmp_path.iterdir()] == [f"out.partial-{os.getppid()}"]


@pytest.mark.parametrize("name", ["out", "out[1]"])
def test_what_a_killed_job_with_the_number_of_this_process_left_is_removed(name: str, tmp_path: Path) -> None:
    """As in a container, where each job has the same number."""
    (tmp_path / f"{name}.partial-{os.getpid()}" / TABLES).mkdir(parents=True)
    (tmp_path / f"{name}.partial-{_GONE}").mkdir()
    _deliver(tmp_path / name, "html")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_folder_of_a_job_in_another_container_with_the_number_of_this_process_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with delivery(out) as folder:
        with pytest.raises(Busy, match="Another report is being made in"):
            _deliver(out, "html")
        gone = folder.rename(folder.with_name(f"out.partial-{_GONE}-ab"))  # a number that only the other one has
        with pytest.raises(Busy, match="Another report is being made in"):
            _deliver(out, "html")
        gone.rename(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_report_that_a_killed_job_was_about_to_replace_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    _deliver(out, "html")
    monkeypatch.setattr(Path, "rename", _once(Path.rename))
    monkeypatch.setattr(shutil, "rmtree", lambda _path, **_more: None)  # nor does it clean up
    with pytest.raises(KeyboardInterrupt):
        _deliver(out, "html")
    assert not out.exists()
    monkeypatch.undo()
    with pytest.raises(ZeroDivisionError), delivery(out):
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["out"] and (out / REPORT).exists()


def _once(rename: Callable[[Path, Path], Path]) -> Callable[[Path, Path], Path]:
    """It is killed before it renames a second time."""
    done: list[Path] = []

    def renamed(path: Path, to: Path) -> Path:
        if done:
            raise KeyboardInterrupt
        done.append(path)
        return rename(path, to)

    return renamed


def test_a_mounted_disk_is_refused_before_the_report_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda path: path == tmp_path)
    with pytest.raises(ReportError, match="is a mounted disk, which a report cannot replace: choose a folder in it"):
        _deliver(tmp_path, "html")
    _deliver(tmp_path / "out", "html")


@pytest.mark.parametrize("name", [REPORT, JUNIT, SCHEMA, f"{TABLES}/totals.csv"])
def test_a_file_of_another_program_is_no_report_for_its_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "out" / name).parent.mkdir(parents=True)
    (tmp_path / "out" / name).write_text("made by another program")
    with pytest.raises(ReportError, match="something other than a report"):
        _deliver(tmp_path / "out", "html")
    assert (tmp_path / "out" / name).read_text() == "made by another program"


def test_what_another_user_left_stays_and_is_in_nobodys_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder in which only its owner may remove a file."""
    log = tmp_path / f"work-{_GONE}-a.log"
    log.touch()

    def refuse(path: Path, **_more: object) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    clear(tmp_path, "work-")
    assert log.exists()


def test_a_link_in_a_report_is_not_of_it(tmp_path: Path) -> None:
    _deliver(tmp_path / "out", "html")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / TABLES).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ReportError, match="something other than a report"):
        _deliver(tmp_path / "out", "html")
