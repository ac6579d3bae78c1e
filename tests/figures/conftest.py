"""A window for all visits: what is shown must not depend on what it has shown before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.shell.workbench import Workbench
from tests.app.one_window import end


@pytest.fixture(scope="module")
def workbench(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """One workbench of 1600x1000, whose recordings are kept until the last test is done."""
    made = Workbench(qapp, theme="light", sessions=tmp_path_factory.mktemp("sessions"))
    made.settings.hints = False
    made.canvas.set_reduced_motion(True)
    made.window.resize(1600, 1000)
    made.window.show()
    # What is read is what widgets hold; to paint it costs more than all the rest.
    made.window.setUpdatesEnabled(False)
    yield made
    end(made)


@pytest.fixture(autouse=True)
def _keyframes(keyframe_each_second: None) -> None:
    """The figures of a moment are those of its keyframe."""


@pytest.fixture
def scenarios() -> Path:
    """List the bundled scenarios."""
    return Path(__file__).parents[2] / "resources" / "scenarios"
