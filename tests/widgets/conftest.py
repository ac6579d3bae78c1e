"""What tests of widgets share."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication


@pytest.fixture(autouse=True)
def no_windows_left(qapp: QApplication) -> Iterator[None]:
    """Windows of earlier tests are gone: each that stays makes every change of theme slower."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    # Keys go to the active window: none of an earlier test may be it, nor a popup that was left open.
    for window in qapp.topLevelWidgets():
        window.close()
    yield
