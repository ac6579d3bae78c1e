from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from app.commands.context import CommandContext
from app.commands.forms import Form
from app.sessions.core_sentences import error_text
from app.sessions.queries import Answers
from broker_core.errors import BrokerError
from broker_core.operations.request import Request
from broker_core.simulation.actions import UserAction
from widgets.controls import set_why_not
from widgets.dialogs.form import Values
from widgets.dialogs.review import Review, ReviewDialog
from widgets.formats import sentence

T = TypeVar("T")


def open_review(
    context: CommandContext,
    form: Form,
    request: Callable[[Values], Request[T]],
    shown: Callable[[Values, T], Review],
    do: Callable[[Values, T], object],
    does: type[UserAction],
    why_not: Callable[[Values], str] = lambda _values: "",
) -> None:
    """Show the answer to `request` before `do` is done with it, an action of the kind `does`."""
    dialog = ReviewDialog(*form[:3], why_not=why_not, parent=context.window)
    answers = Answers(context.controller, dialog)
    found: list[T] = []

    def fail(why: str) -> None:
        dialog.problem.setText(sentence(why))

    def show(values: Values, answer: T) -> None:
        found[:] = [answer]
        dialog.set_review(shown(values, answer))
        if dialog.reviewing:
            set_why_not(dialog.accept_button, context.controller.why_not(does))

    def ask(values: Values) -> None:
        try:
            answers.ask(request(values), partial(show, values), fail)
        except BrokerError as error:
            fail(error_text(error))

    dialog.reviewWanted.connect(ask)
    dialog.chosen.connect(lambda values: do(values, found[0]))
    dialog.open()
