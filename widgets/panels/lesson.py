from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from widgets.boxes import hbox, one_each, scrolled, vbox
from widgets.bytes_text import contained
from widgets.controls import plain_label, push_button, set_plain_tip, set_property
from widgets.fold_button import FoldButton
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.panels.panel import Panel, declared
from widgets.theme import current_theme, follow_theme, px


@dataclass(frozen=True, slots=True)
class StepFacts:
    """A step as texts: what to watch or try, what was seen, and by what it was done.

    `can_point`: it names a place; `ever`: it was done in this run or in an earlier one. `cannot` is a sentence if it
    can no longer be done in this one.
    """

    text: str
    seen: str = ""
    done: bool = False
    by: str = ""
    current: bool = False
    can_point: bool = False
    ever: bool = False
    cannot: str = ""

    @property
    def earlier(self) -> bool:
        """Whether it was done in an earlier run alone."""
        return self.ever and not self.done


@dataclass(frozen=True, slots=True)
class LessonFacts:
    """A lesson as texts. `next_title` is that of the next lesson, "" for none; `note` says of which moment it tells."""

    title: str
    steps: tuple[StepFacts, ...]
    question: str = ""
    answer: str = ""
    next_title: str = ""
    note: str = ""

    @property
    def done(self) -> int:
        return sum(step.done for step in self.steps)

    def is_same_lesson(self, other: LessonFacts) -> bool:
        """Whether the other has the same steps, whatever of them is done."""
        return self.title == other.title and [step.text for step in self.steps] == [step.text for step in other.steps]

    @property
    def complete(self) -> bool:
        """Whether all are, in this run or in earlier ones."""
        return all(step.done or step.ever for step in self.steps)


def offer_step(button: QPushButton, step: StepFacts | None) -> None:
    """Gives the button of a step its words: it shows where, or starts a lesson over that cannot go on."""
    button.setText(tr("Start the lesson over") if step is not None and step.cannot else tr("Show me where"))
    button.setVisible(step is not None and step.current and (step.can_point or bool(step.cannot)))


INDENT_PX, END_PX = 8, 14  # where the rows of steps begin, and what is left free below them


class StepRow(QFrame):
    """A step of the lesson. `stepPressed()` when its button is pressed; the arrow at its right opens and closes
    the text of what the step has seen in the session.
    """

    stepPressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._facts, self._last_done = StepFacts(""), False
        self._opened: bool | None = None  # by hand; before that, the last step done is open
        self._icon = QLabel(self)
        self.text = plain_label("", "", self, fill=True)
        self.seen = plain_label("", "muted", self, fill=True)
        self.point = push_button(tr("Show me where"), self, pressed=self.stepPressed, role="link", by_tab=True)
        self.more = FoldButton("chevron-right", "", self)
        self.more.clicked.connect(self._toggle)
        texts = vbox(self.text, self.seen, (self.point, 0, Qt.AlignmentFlag.AlignLeft), 1, spacing=4)
        hbox(
            (self._icon, 0, Qt.AlignmentFlag.AlignTop),
            (texts, 1),
            (self.more, 0, Qt.AlignmentFlag.AlignTop),
            on=self,
            margins=(8, 4, 4, 4),
            spacing=8,
        )
        follow_theme(self._restyle)

    def set_facts(self, facts: StepFacts, *, last_done: bool) -> None:
        """Show a step. The last one done also shows what was seen, unless the user has closed that."""
        self._facts, self._last_done = facts, last_done
        self.text.setText(contained(facts.text))
        self.seen.setText(contained(facts.cannot or facts.seen))
        self.more.setVisible(facts.done and bool(facts.seen))
        offer_step(self.point, facts)
        earlier = tr("Done in an earlier run") if facts.earlier else ""
        set_plain_tip(self._icon, facts.by or earlier)
        state = tr("Done") if facts.done else tr("Now") if facts.current else earlier or tr("To do")
        self.setAccessibleName(tr("{state}: {step}", state=state, step=facts.text))
        self._restyle()

    @property
    def is_open(self) -> bool:
        return self._last_done if self._opened is None else self._opened

    def _toggle(self) -> None:
        self._opened = not self.is_open
        self._restyle()

    def _restyle(self) -> None:
        theme, facts, opened = current_theme(), self._facts, self.is_open
        self.seen.setVisible(bool(facts.cannot) or (opened and facts.done and bool(facts.seen)))
        sign, words = ("chevron-down", tr("Hide explanation")) if opened else ("chevron-right", tr("Explanation"))
        self.more.set_sign(sign, words)
        name, colour = (
            ("check", theme.stable)
            if facts.done
            else ("chevron-right", theme.accent)
            if facts.current
            else ("check", theme.disabled)
            if facts.earlier
            else ("idle", theme.disabled)
        )
        self._icon.setPixmap(icon_pixmap(name, colour, px(16), self.devicePixelRatioF()))
        set_property(self.text, "role", "heading" if facts.current else "muted" if facts.done else "")


class LessonPanel(Panel):
    """`stepPressed(number)`: show where it is, or start over if it `cannot`; `nextWanted()`, `startOverWanted()`.

    `foldWanted(on)` when its arrow was pressed: whoever holds the panel answers; `folded(on)` once it is so.
    """

    info = declared("lesson")

    stepPressed = Signal(int)
    nextWanted = Signal()
    startOverWanted = Signal()
    foldWanted = Signal(bool)
    folded = Signal(bool)
    heightChanged = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.facts: LessonFacts | None = None
        self.is_folded = False
        self.rows: list[StepRow] = []
        self._reveal = QTimer(self, singleShot=True)
        self._reveal.timeout.connect(self._show_current)
        self._last = 0  # the step of which is shown what was seen
        self._over = FoldButton("restart", tr("Start the lesson over"), self)
        self._over.clicked.connect(self.startOverWanted)
        self.fold = FoldButton("chevron-up", "", self)
        self.fold.clicked.connect(lambda: self.foldWanted.emit(not self.is_folded))
        self.title_row.addWidget(self._over)
        self.title_row.addWidget(self.fold)
        self._inner = QWidget(self)
        self.question = plain_label("", "heading", self, fill=True)
        self.answer = plain_label("", "", self, fill=True)
        self.show_answer = push_button(tr("Show the answer"), self, pressed=self._answer, by_tab=True)
        self.next_title = plain_label("", "muted", self, fill=True)
        for label in (self.question, self.answer, self.next_title):
            label.setIndent(INDENT_PX)
        self.next = push_button(tr("Open it"), self, pressed=self.nextWanted, by_tab=True)
        self._answered = False
        # Buttons on rows of their own: two side by side are wider than the panel.
        show, open_next = (hbox(button, 1, margins=(8, 6, 4, 0)) for button in (self.show_answer, self.next))
        parts = (self.question, self.answer, show, self.next_title, open_next, 1)
        self._column = vbox(*parts, on=self._inner, margins=(4, 0, 8, END_PX), spacing=2)
        self._area = scrolled(self._inner, self)
        self.stack.addWidget(self._area)
        self._show_fold()
        follow_theme(self._follow_type)

    def set_facts(self, facts: LessonFacts | None) -> None:
        if facts == self.facts:
            return
        old, self.facts = self.facts, facts
        self.show_body(facts is not None)
        if facts is None:
            self.set_count("")
            return
        if old is None or not old.is_same_lesson(facts):
            old, self._answered = None, False
            one_each((), self.rows, self._add)
        self.set_count(tr("{done} of {count}", done=facts.done, count=len(facts.steps)))
        self.set_note(facts.note)
        self._show_steps(facts, old)
        self.question.setText(contained(facts.question))
        self.answer.setText(contained(facts.answer))
        self.next_title.setText(contained(tr("Next lesson: {title}", title=facts.next_title)))
        for part in (self.next_title, self.next):
            part.setVisible(bool(facts.next_title))
        set_property(self.next, "role", "primary" if facts.complete else "link")
        self._show_question()

    def begin(self) -> None:
        """Another run: nothing is opened or folded by hand, and the answer is not shown."""
        self.facts = None
        one_each((), self.rows, self._add)
        self.set_folded(False)
        self.heightChanged.emit()

    def _show_steps(self, facts: LessonFacts, old: LessonFacts | None) -> None:
        fresh = self._freshly_done(facts, old)
        for number, (row, step) in enumerate(one_each(facts.steps, self.rows, self._add)):
            row.set_facts(step, last_done=number == fresh)
        self._reveal.start()

    def _add(self, number: int) -> StepRow:
        row = StepRow(self._inner)
        row.stepPressed.connect(lambda: self.stepPressed.emit(number))
        row.more.clicked.connect(self.heightChanged)
        self._column.insertWidget(number, row)
        row.show()
        return row

    def _show_current(self) -> None:
        steps = () if self.facts is None else self.facts.steps
        current: list[QWidget] = [row for row, step in zip(self.rows, steps, strict=False) if step.current]
        end: list[QWidget] = [
            part for part in (self.next, self.answer, self.show_answer, self.question) if not part.isHidden()
        ]
        # If there is not room for all of the end, the question is what is read first.
        for part in current or [*end[:1], *end[-1:]]:
            self._area.ensureWidgetVisible(part, 0, END_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lower, it may have hidden what is to be done next."""
        super().resizeEvent(event)
        self._reveal.start()

    def _freshly_done(self, facts: LessonFacts, old: LessonFacts | None) -> int:
        """The step of which is shown what was seen: the one that was done last."""
        done = [number for number, step in enumerate(facts.steps) if step.done]
        new = [number for number in done if old is not None and not old.steps[number].done]
        if new or old is None or self._last not in done:
            self._last = max(new or done, default=0)
        return self._last

    def _show_question(self) -> None:
        facts = self.facts
        asked = facts is not None and facts.complete and bool(facts.question)
        self.question.setVisible(asked)
        self.show_answer.setVisible(asked and not self._answered)
        self.answer.setVisible(asked and self._answered)
        self.heightChanged.emit()

    def _answer(self) -> None:
        self._answered = True
        self._show_question()
        self._reveal.start()

    def set_folded(self, on: bool) -> None:
        if on != self.is_folded:
            self.is_folded = on
            self._show_fold()
            self.folded.emit(on)
            self.heightChanged.emit()

    def wanted_height(self, width: int) -> int:
        head = self.title_height
        if self.is_folded:
            return head
        note = self.note.heightForWidth(width) if self.note.text() else 0
        return head + note + self._column.totalHeightForWidth(width)

    def _show_fold(self) -> None:
        words = tr("Unfold the lesson") if self.is_folded else tr("Fold the lesson")
        self.fold.set_sign("chevron-down" if self.is_folded else "chevron-up", words)

    def _follow_type(self) -> None:
        self.heightChanged.emit()
