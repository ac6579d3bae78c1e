"""`make costs` runs all tests and writes down which of them are costly: `make test` leaves these to `make check`."""

from __future__ import annotations

import resource
import time
from collections.abc import Generator
from pathlib import Path

import pytest

COSTLY_CPU_S = 1.0
LIST = Path(__file__).with_name("costly.txt")
# Run by `make test` whatever they cost: a sample of known causes, whole reports, what the program is used for first,
# and what every change has to keep.
ALWAYS = (
    "tests/diagnosis/test_diagnosis.py::",
    "tests/spark_reports/jobs/test_job.py::test_a_report_is_made_with_progress_to_the_end",
    "tests/app/shell/test_workbench.py::test_dead_letters_are_selected_and_redriven_by_clicks_and_consumed",
    "tests/app/shell/test_workbench.py::test_the_context_menu_moves_a_consumer_and_says_why_it_cannot",
    "tests/app/environment/test_language.py::",
    "tests/test_promises.py::",
    "tests/test_tidy.py::",
)

_started = pytest.StashKey[tuple[float, float]]()


def costly() -> frozenset[str]:
    """Ids of the tests that were costly when `make costs` ran last."""
    return frozenset(LIST.read_text("utf-8").splitlines())


def _now() -> tuple[float, float]:
    usages = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in usages), time.monotonic()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[_started] = _now()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "teardown" and item.get_closest_marker("promise") is None:
        # A process that an earlier test had started may be reaped now; it has computed for longer than this one took.
        (cpu_s, time_s), (began_cpu_s, began_s) = _now(), item.stash[_started]
        report.user_properties = [("cpu_s", min(cpu_s - began_cpu_s, time_s - began_s))]
    return report


class _Costs:
    def __init__(self) -> None:
        self.costly: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == "cpu_s" and isinstance(value, float) and value >= COSTLY_CPU_S:
                self.costly.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        found = sorted(test for test in self.costly if not test.startswith(ALWAYS))
        LIST.write_text("".join(f"{test}\n" for test in found), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Costs())
