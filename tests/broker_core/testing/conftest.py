"""pytest runs in the process of the tests: a process of its own takes longer to load than what most of them run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

# What is not loaded here, each run would load again.
from broker_core.testing import EmbeddedBroker, item_brokers, virtual_broker  # noqa: F401
from tests import long_form


@pytest.fixture
def run_pytest(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pytest.RunResult]:
    """Run pytest with this tree's plugin and `plugins`, by their modules; without what else is installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(*arguments: str, plugins: tuple[str, ...] = ()) -> pytest.RunResult:
        loaded = ("no:brokerscope", "broker_core.testing.plugin", *plugins)
        return pytester.runpytest_inprocess(*(f"-p{name}" for name in loaded), *arguments)

    return run


@pytest.fixture
def fewer_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    """`given_schedule` tries some of the schedules that it is asked for; in the long form all."""
    most = long_form.form(10, 10_000)
    monkeypatch.setattr("broker_core.testing.given.range", lambda count: range(min(count, most)), raising=False)
