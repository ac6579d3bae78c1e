"""Was anything lost, asked in the window: dialog and job may end in any order."""

from __future__ import annotations

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication
from pytestqt.exceptions import capture_exceptions

from app.sessions.jobs import Job
from tests.app.conftest import Hand
from widgets.dialogs.facts_table import FactsTableDialog


def asked(hand: Hand) -> tuple[FactsTableDialog, Job]:
    """The dialog and its job, once there is an answer."""
    assert hand.workbench.registry.trigger("audit")
    dialog = hand.workbench.window.findChildren(FactsTableDialog)[-1]
    (job,) = (one for one in hand.workbench.jobs.findChildren(Job))
    hand.wait_until(lambda: job.facts.state == "Done")
    return dialog, job


def test_the_answer_comes_in_the_dialog(hand: Hand) -> None:
    dialog, _job = asked(hand)
    assert "Nothing was lost" in dialog.sentence.text() and len(dialog.texts()) > 3


@pytest.mark.parametrize("first", ["dialog", "job"])
def test_whichever_of_dialog_and_job_goes_first_the_other_goes_quietly(hand: Hand, first: str) -> None:
    dialog, job = asked(hand)
    with capture_exceptions() as raised:
        if first == "job":
            shiboken6.delete(job)
            shiboken6.delete(dialog)
        else:
            shiboken6.delete(dialog)
            job.changed.emit()
        QApplication.processEvents()
    assert raised == []
