from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QToolButton, QWidget

from widgets.boxes import hbox, scrolled, vbox
from widgets.bytes_text import contained
from widgets.facts import plain_label, push_button, set_plain_tip, set_property
from widgets.fold_button import FoldButton
from widgets.i18n import tr
from widgets.icons import icon, icon_pixmap
from widgets.panels.panel import Panel, declared
from widgets.theme import current_theme, follow_theme, px


class NextStep(QFrame):
    """The next step, or the question at the end. Its buttons emit `pointWanted(number)` and `lessonWanted()`."""

    pointWanted = Signal(int)
    lessonWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self._number = -1
        self._icon = QLabel(self)
        self.count = plain_label("", "muted", self)
        self.text = plain_label("", "", self, wrap=True)
        self.point = push_button(tr("Show me where"), self, pressed=lambda: self.pointWanted.emit(self._number))
        self.open = push_button(tr("Show the lesson"), self, pressed=self.lessonWanted)
        parts = (self._icon, (self.text, 1), self.count, self.point, self.open)
        hbox(*parts, on=self, margins=(12, 2, 8, 2), spacing=8)
        follow_theme(self._restyle)
        self.hide()

    def set_facts(self, facts: LessonFacts | None) -> None:
        number = -1 if facts is None else next((at for at, step in enumerate(facts.steps) if step.current), -1)
        step = facts.steps[number] if facts is not None and number >= 0 else None
        text = facts.question if facts is not None and facts.complete else ""
        if step is not None:
            text = step.cannot or step.text
        self._number = number
        self.text.setText(contained(text))
        _offer(self.point, step)
        if facts is not None:
            self.count.setText(tr("{done} of {count}", done=facts.done, count=len(facts.steps)))
        self.setVisible(bool(text))

    def _restyle(self) -> None:
        pixmap = icon_pixmap("chevron-right", current_theme().accent, px(16), self.devicePixelRatioF())
        self._icon.setPixmap(pixmap)


INDENT, END = 8, 14  # where the rows of steps begin, and what is left free below them


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
        texts, others = ([step.text for step in facts.steps] for facts in (self, other))
        return self.title == other.title and texts == others

    @property
    def complete(self) -> bool:
        """Whether all are, in this run or in earlier ones."""
        return all(step.done or step.ever for step in self.steps)


def _offer(button: QPushButton, step: StepFacts | None) -> None:
    """Gives the button of a step its words: it shows where, or starts a lesson over that cannot go on."""
    button.setText(tr("Start the lesson over") if step is not None and step.cannot else tr("Show me where"))
    button.setVisible(step is not None and step.current and (step.can_point or bool(step.cannot)))


class StepRow(QFrame):
    """A step of the lesson. `pointWanted()` when its button is pressed; the arrow at its right opens and closes
    the text of what the step has seen in the session.
    """

    pointWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._facts = StepFacts("")
        self._opened: bool | None = None  # by hand; before that, the last step done is open
        self._icon = QLabel(self)
        self.text = plain_label("", "", self, fill=True)
        self.seen = plain_label("", "muted", self, fill=True)
        self.point = push_button(tr("Show me where"), self, pressed=self.pointWanted, role="link", by_tab=True)
        self.more = QToolButton(self, autoRaise=True)
        self.more.setCheckable(True)
        self.more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.more.setStyleSheet("QToolButton, QToolButton:checked { padding: 1px; background: transparent; }")
        self.more.clicked.connect(self._toggle)
        texts = vbox(self.text, self.seen, (self.point, 0, Qt.AlignmentFlag.AlignLeft), spacing=4)
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
        self._facts = facts
        self.text.setText(contained(facts.text))
        self.seen.setText(contained(facts.cannot or facts.seen))
        opened = last_done if self._opened is None else self._opened
        can_open = facts.done and bool(facts.seen)
        self.more.setVisible(can_open)
        self.more.setChecked(opened)
        self.seen.setVisible(bool(facts.cannot) or (can_open and opened))
        _offer(self.point, facts)
        earlier = tr("Done in an earlier run") if facts.earlier else ""
        set_plain_tip(self._icon, facts.by or earlier)
        state = tr("Done") if facts.done else tr("Now") if facts.current else earlier or tr("To do")
        self.setAccessibleName(tr("{state}: {step}", state=state, step=facts.text))
        self._restyle()

    def _toggle(self) -> None:
        self._opened = self.more.isChecked()
        self.seen.setVisible(self._opened)
        self._restyle()

    def _restyle(self) -> None:
        theme, facts = current_theme(), self._facts
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
        self.more.setIconSize(QSize(px(14), px(14)))
        self.more.setIcon(icon("chevron-down" if self.more.isChecked() else "chevron-right", theme))
        words = tr("Hide explanation") if self.more.isChecked() else tr("Explanation")
        self.more.setToolTip(words)
        self.more.setAccessibleName(words)


class LessonPanel(Panel):
    """`pointWanted(number)` for the place of a step, `nextWanted()`, `startOverWanted()`; `folded(on)` by its arrow."""

    info = declared("lesson")

    pointWanted = Signal(int)
    nextWanted = Signal()
    startOverWanted = Signal()
    folded = Signal(bool)
    heightChanged = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.facts: LessonFacts | None = None
        self._rows: list[StepRow] = []
        self._reveal = QTimer(self, singleShot=True)
        self._reveal.timeout.connect(self._show_current)
        self._last = 0  # the step of which is shown what was seen
        self._over = FoldButton("restart", tr("Start the lesson over"), self)
        self._over.clicked.connect(self.startOverWanted)
        self.fold = FoldButton("chevron-up", "", self)
        self.fold.setCheckable(True)
        self.fold.clicked.connect(self._fold)
        self.title_row.addWidget(self._over)
        self.title_row.addWidget(self.fold)
        self._inner = QWidget(self)
        self.question = plain_label("", "heading", self, fill=True)
        self.answer = plain_label("", "", self, fill=True)
        self.show_answer = push_button(tr("Show the answer"), self, pressed=self._answer, by_tab=True)
        self.next_title = plain_label("", "muted", self, fill=True)
        for label in (self.question, self.answer, self.next_title):
            label.setIndent(INDENT)
        self.next = push_button(tr("Open it"), self, pressed=self.nextWanted, by_tab=True)
        self._answered = False
        # Buttons on rows of their own: two side by side are wider than the panel.
        rows = (hbox(button, 1, margins=(8, 6, 4, 0)) for button in (self.show_answer, self.next))
        parts = (self.question, self.answer, next(rows), self.next_title, next(rows), 1)
        self._column = vbox(*parts, on=self._inner, margins=(4, 0, 8, END), spacing=2)
        self._area = scrolled(self._inner, self)
        self.stack.addWidget(self._area)
        self._show_fold()
        follow_theme(self._follow_type)

    def rows(self) -> list[StepRow]:
        return [row for row in self._rows if not row.isHidden()]

    def set_facts(self, facts: LessonFacts | None) -> None:
        if facts == self.facts:
            return
        old, self.facts = self.facts, facts
        self.show_body(facts is not None)
        if facts is None:
            self.set_count("")
            return
        if old is not None and not old.is_same_lesson(facts):
            old = None
        if old is None:
            self._answered = False
            self._clear()
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
        self._clear()
        self.set_folded(False)

    def _clear(self) -> None:
        for row in self._rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows.clear()

    def _show_steps(self, facts: LessonFacts, old: LessonFacts | None) -> None:
        while len(self._rows) < len(facts.steps):
            row, number = StepRow(self._inner), len(self._rows)
            row.pointWanted.connect(lambda number=number: self.pointWanted.emit(number))
            row.more.clicked.connect(self.heightChanged)
            self._column.insertWidget(number, row)
            self._rows.append(row)
            row.show()
        fresh = self._freshly_done(facts, old)
        for number, (row, step) in enumerate(zip(self._rows, facts.steps, strict=True)):
            row.set_facts(step, last_done=number == fresh)
        self.heightChanged.emit()
        self._reveal.start()

    def _show_current(self) -> None:
        steps = () if self.facts is None else self.facts.steps
        current: list[QWidget] = [row for row, step in zip(self.rows(), steps, strict=False) if step.current]
        end: list[QWidget] = [
            part for part in (self.next, self.answer, self.show_answer, self.question) if not part.isHidden()
        ]
        # If there is not room for all of the end, the question is what is read first.
        for part in current or [*end[:1], *end[-1:]]:
            self._area.ensureWidgetVisible(part, 0, END)

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

    @property
    def is_folded(self) -> bool:
        return self.fold.isChecked()

    def set_folded(self, on: bool) -> None:
        self.fold.setChecked(on)
        self._fold()

    def _fold(self) -> None:
        self._show_fold()
        self.folded.emit(self.is_folded)
        self.heightChanged.emit()

    def wanted_height(self, width: int) -> int:
        head = self.title_height
        if self.is_folded:
            return head
        note = self.note.heightForWidth(width) if self.note.text() else 0
        return head + note + self._column.totalHeightForWidth(width)

    def _show_fold(self) -> None:
        words = tr("Unfold the lesson") if self.fold.isChecked() else tr("Fold the lesson")
        self.fold.set_sign("chevron-down" if self.fold.isChecked() else "chevron-up", words)

    def _follow_type(self) -> None:
        self.heightChanged.emit()
