"""The plugin of pytest: brokers as fixtures, and what happened in them if a test fails.

pytest loads this module at each start, so what a broker needs is imported by the fixtures.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from broker_core.testing.embedded_broker import EmbeddedBroker
    from broker_core.testing.item_brokers import ItemBrokers
    from broker_core.testing.virtual_session import VirtualSession

_PACKAGE = Path(__file__).parent.parent
_BORDER = _PACKAGE / "settings.py"  # where the arguments of a call are checked


def leave_out_own_frames(failed: pytest.ExceptionInfo[BaseException], root: Path) -> None:
    """Leave them out of what a test below `root` has raised, unless it is a test of this package.

    They stay where this package has raised what is no sentence, which is a bug of it.
    """
    from broker_core.errors import BrokerError
    from broker_core.testing.program import ProgramEndedError

    trace = list(_frames(failed.tb))
    last = _file(trace[-1])
    bug = (
        last.is_relative_to(_PACKAGE)
        and last != _BORDER
        and not isinstance(failed.value, (BrokerError, TimeoutError, ProgramEndedError))
    )
    if bug or _PACKAGE.parent == root:
        return
    # pytest shows where its own begin, which are the first.
    kept = [each for each in trace if not _file(each).is_relative_to(_PACKAGE)]
    for each, following in zip(kept, [*kept[1:], None], strict=True):
        each.tb_next = following


def _frames(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _file(trace: TracebackType) -> Path:
    return Path(trace.tb_frame.f_code.co_filename)


_BROKERS: pytest.StashKey[ItemBrokers] = pytest.StashKey()
_SESSION_BROKER: pytest.StashKey[EmbeddedBroker] = pytest.StashKey()
_RECORDING = "brokerscope_recording"  # a property of reports, so that xdist brings it to the controller
_REPORT = "report"  # the folder of the report, beside the recordings
# The same as the command `brokerscope`, which need not be in PATH.
_PROGRAM = (
    "import sys; from importlib.metadata import entry_points as found; "
    "sys.exit(next(iter(found(group='console_scripts', name='brokerscope'))).load()())"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("brokerscope", "Brokerscope, brokers for tests")
    group.addoption(
        "--brokerscope-record",
        choices=("failed", "all", "none"),
        default="failed",
        help="tests whose recordings are kept (default: failed)",
    )
    group.addoption(
        "--brokerscope-dir",
        default=".brokerscope",
        metavar="DIR",
        help="folder of the recordings, from the root directory (default: .brokerscope)",
    )
    group.addoption(
        "--brokerscope-report",
        action="store_true",
        help="make a report of the recordings kept by this run; needs brokerscope[report]",
    )
    group.addoption(
        "--brokerscope-page",
        metavar="DIR",
        help="make a page for any browser of each recording kept by this run; needs brokerscope[gui]",
    )


# -- fixtures


@pytest.fixture
def make_broker(request: pytest.FixtureRequest) -> Iterator[Callable[..., EmbeddedBroker]]:
    """Start a broker with the arguments of `EmbeddedBroker`; it is closed after the test.

    With `cluster="HOST:PORT"` it is a `ClusterBroker`: that real cluster, from between.
    """
    from broker_core.testing.embedded_broker import EmbeddedBroker

    def kind(*arguments: Any, **settings: Any) -> Any:
        if "cluster" not in settings:
            return EmbeddedBroker(*arguments, **settings)
        from broker_core.testing.cluster_broker import ClusterBroker

        return ClusterBroker(*arguments, **settings)

    yield from _maker(request, kind)


@pytest.fixture
def broker(make_broker: Callable[..., EmbeddedBroker]) -> EmbeddedBroker:
    """A fresh broker in memory with Kafka and HTTP listeners on free ports; it is closed after the test."""
    return make_broker()


@pytest.fixture(scope="session")
def broker_session(request: pytest.FixtureRequest) -> Iterator[EmbeddedBroker]:
    """One broker for the whole run, in each process of xdist. Before each test that uses it, it begins anew.

    Its ports stay; topics, queues, groups and connections go, those of fixtures of a wider scope as well.
    """
    from broker_core.testing.embedded_broker import EmbeddedBroker

    with EmbeddedBroker() as broker:
        request.config.stash[_SESSION_BROKER] = broker
        yield broker


def _session_broker_of(item: pytest.Item) -> EmbeddedBroker | None:
    if "broker_session" not in getattr(item, "fixturenames", ()):
        return None
    return item.config.stash.get(_SESSION_BROKER, None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Clean the broker of the run, where the test uses it and another one did."""
    if (broker := _session_broker_of(item)) is not None:
        broker.reset()


@pytest.fixture
def make_virtual_session(request: pytest.FixtureRequest) -> Iterator[Callable[..., VirtualSession]]:
    """Start a scenario in virtual time with the arguments of `VirtualSession`; it is closed after the test."""
    from broker_core.testing.virtual_session import VirtualSession

    yield from _maker(request, VirtualSession)


def _maker(request: pytest.FixtureRequest, kind: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    with contextlib.ExitStack() as opened:

        def make(*args: Any, **settings: Any) -> Any:
            made = opened.enter_context(kind(*args, **settings))
            _brokers_of(request.node).add(made)
            return made

        yield make


def _brokers_of(item: pytest.Item) -> ItemBrokers:
    from broker_core.testing.item_brokers import ItemBrokers

    return item.stash.setdefault(_BROKERS, ItemBrokers(_folder(item.config), item.nodeid))


def _folder(config: pytest.Config) -> Path:
    return config.rootpath / str(config.getoption("--brokerscope-dir"))


# -- the failing moment


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep the recordings of a test that has failed, and tell in its report what happened."""
    if call.excinfo is not None and not item.config.getoption("fulltrace"):
        leave_out_own_frames(call.excinfo, item.config.rootpath)
    report = yield
    if report.when == "setup" and (session_broker := _session_broker_of(item)) is not None:
        _brokers_of(item).add(session_broker)
    # given_schedule makes brokers, and tells the one of the run that failed.
    if call.excinfo is not None:
        from broker_core.testing.schedule import BROKER_OF_ERROR

        virtual = getattr(call.excinfo.value, BROKER_OF_ERROR, None)
        if virtual is not None:
            _brokers_of(item).add(virtual)
    brokers = item.stash.get(_BROKERS, None)
    if brokers is not None:
        _keep(brokers, item.config.getoption("--brokerscope-record"), report)
        if report.when == "teardown":
            del item.stash[_BROKERS]  # pytest keeps items to the end of the run
    return report


def _keep(brokers: ItemBrokers, record: str, report: pytest.TestReport) -> None:
    wanted = report.failed if record == "failed" else record == "all" and report.when == "call"
    problem = ""
    if wanted:
        try:
            saved = brokers.save(_about(report))
        except Exception as error:  # the test's own failure comes first
            saved, problem = [], f"\n\nThe recording was not written: {error}"
        report.user_properties += [(_RECORDING, str(path)) for path in saved]
    if report.failed:
        report.sections.append(("What happened in the broker", brokers.describe() + problem))


def _about(report: pytest.TestReport) -> str:
    if not report.failed:
        return "A test that passed."
    crash = getattr(report.longrepr, "reprcrash", None)
    message = str(getattr(crash, "message", "")).splitlines()
    return f"A test that failed: {message[0]}" if message else "A test that failed."


# -- the report of the run, and its pages


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Make the report and the pages of what was recorded, where they are asked for."""
    wants_report, pages = config.getoption("--brokerscope-report"), config.getoption("--brokerscope-page")
    if not wants_report and not pages:
        return
    reports = [each for group in terminalreporter.stats.values() for each in group if hasattr(each, "user_properties")]
    kept = sorted({str(value) for each in reports for name, value in each.user_properties if name == _RECORDING})
    terminalreporter.section("Brokerscope")
    if not kept:
        what = "report" if wants_report else "page"
        terminalreporter.line(
            f"No recording was kept, so there is no {what}; --brokerscope-record=all keeps all recordings."
        )
        return
    from broker_core.plurals import counted

    if wants_report:
        out = _folder(config) / _REPORT
        several = ["--history"] if len(kept) > 1 else []
        told = f"The report of {counted(len(kept), 'recording')}"
        terminalreporter.line(_made(told, out / "report.html", "report", *kept, *several, "--out", str(out)))
    if pages:
        folder = config.rootpath / str(pages)
        folder.mkdir(parents=True, exist_ok=True)
        for recording in map(Path, kept):
            page = folder / f"{recording.name}.html"
            told = f"The page of {recording.name}"
            terminalreporter.line(_made(told, page, "share", str(recording), "--out", str(page)))


def _made(told: str, result: Path, *command: str) -> str:
    """Run a command of the program; the line that says where its `result` is, or what kept it from being made."""
    from broker_core.testing.item_brokers import as_typed

    ended = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if ended.returncode == 0:
        return f"{told} is {as_typed(result)}."
    return ended.stderr.strip() or f"{told} was not made: the command ended with {ended.returncode}."
