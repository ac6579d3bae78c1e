from __future__ import annotations

from collections import deque

from app.commands.context import CommandContext, Handlers
from app.commands.undo_stack import UndoStep
from app.sessions.core_sentences import cause_text
from broker_core.limits import UNDO_WINDOW_MS
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.faults import HoldSchedule
from broker_core.simulation.handlers import Performed
from widgets.i18n import tr

UNDO, REDO = "undo", "redo"
UNDO_WINDOW_MINUTES = UNDO_WINDOW_MS // 60_000  # of session time


class UndoHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        # What was asked of the engine and not answered yet, in order.
        self._asked: deque[_BrokerStep] = deque()
        stack, registry, controller = context.undo, context.registry, context.controller
        registry.bind(UNDO, self._undo, stack.why_no_undo)
        registry.bind(REDO, stack.redo, stack.why_no_redo)
        context.window.status.undoWanted.connect(lambda: registry.trigger(UNDO))
        stack.changed.connect(self._show)
        # Whether it can be undone changes without the stack: the session ends, or the past is shown.
        registry.action(UNDO).changed.connect(self._offer)
        controller.acted.connect(self._acted)
        controller.refused.connect(self._refused)
        controller.opened.connect(self._forget)
        self._show()

    def _undo(self) -> None:
        stack = self._context.undo
        if stack.final and stack.last is not None:
            # The user means the last action, not one before it.
            words = tr("{why} Once more undoes: {what}", why=stack.final, what=stack.last.title)
            stack.pass_final()
            self._context.show_message(words)
        else:
            stack.undo()

    def _forget(self) -> None:
        self._asked.clear()
        self._context.undo.clear()

    def _acted(self, performed: Performed, source: str) -> None:
        if source in (UNDO, REDO):
            step = self._asked.popleft()
            if source == UNDO:
                step.again = performed.inverse or step.again
            elif performed.inverse is not None:
                step.inverse = performed.inverse
            else:
                self._context.undo.drop(step.step)
        elif isinstance(performed.action, HoldSchedule):
            return  # the lesson's, not the user's
        elif performed.inverse is None:
            self._context.undo.note_final(performed.final)
        else:
            _BrokerStep(self, self._context, performed, performed.inverse)

    def _refused(self, _sentence: str, source: str, later: bool) -> None:
        if source in (UNDO, REDO):
            # The controller has said why: it can be tried again, or it is too late for it.
            undo, step = self._context.undo, self._asked.popleft().step
            undo.put_back(step) if later else undo.drop(step)

    def ask(self, step: _BrokerStep, action: UserAction, source: str) -> None:
        self._asked.append(step)
        self._context.controller.perform(action, source)

    def _show(self) -> None:
        context, stack = self._context, self._context.undo
        for command, step, word, words in (
            (UNDO, stack.last, tr("Undo"), tr("Undo: {what}", what=stack.last.title if stack.last else "")),
            (REDO, stack.next, tr("Redo"), tr("Redo: {what}", what=stack.next.title if stack.next else "")),
        ):
            context.registry.action(command).setText(word if step is None else words.replace("&", "&&"))
        context.registry.refresh(UNDO, REDO)
        self._offer()

    def _offer(self) -> None:
        stack = self._context.undo
        offered = stack.last.title if stack.last is not None and not stack.final else ""
        self._context.window.status.offer_undo(offered, stack.why_no_undo() if offered else "")


class _BrokerStep:
    def __init__(
        self, handlers: UndoHandlers, context: CommandContext, performed: Performed, inverse: UserAction
    ) -> None:
        self.inverse = inverse
        self.again = performed.action
        self.step: UndoStep = context.undo.push(
            cause_text(performed.sentence),
            lambda: handlers.ask(self, self.inverse, UNDO),
            lambda: handlers.ask(self, self.again, REDO),
            lambda: context.controller.why_not(type(self.inverse)) or context.controller.why_not(type(self.again)),
        )
