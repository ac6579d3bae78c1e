from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QToolButton, QWidget

from widgets.boxes import hbox, scrolled, vbox
from widgets.bytes_text import contained
from widgets.facts import Fact, LinkButton, SectionsView, named, plain_label, set_plain_tip, show_state
from widgets.i18n import tr
from widgets.icons import icon, icon_pixmap
from widgets.panels.cell_painter import tabular_font
from widgets.panels.panel import Panel, declared
from widgets.panels.payload import PayloadView
from widgets.theme import current_theme, follow_theme, mix, qcolour, state_style

STEPS_SHOWN = 120
MARK_WIDTH = 24


@dataclass(frozen=True, slots=True)
class LifeStep:
    """One step. `state` is a state word; `links` are (text, target); `later` where it is yet to come at the moment
    that is shown. `heading` begins a new place that the message had."""

    time_ns: int
    time: str
    hint: str
    state: str
    detail: str
    links: tuple[tuple[str, str], ...] = ()
    later: bool = False
    heading: str = ""


class _Mark(QWidget):
    def __init__(self, state: str, *, first: bool, last: bool, later: bool, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._state, self._first, self._last, self._later = state, first, last, later
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Minimum)

    def sizeHint(self) -> QSize:
        return QSize(MARK_WIDTH, 24)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        style = state_style(self._state)
        colour = theme.disabled if self._later else theme.colour(style.token)
        pixmap = icon_pixmap(style.icon, colour, 16, self.devicePixelRatioF())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(qcolour(mix(theme.surface, theme.text, 0.25)), 2))
        middle = 10
        if not self._first:
            painter.drawLine(middle, 0, middle, 2)
        if not self._last:
            painter.drawLine(middle, 20, middle, self.height())
        painter.drawPixmap(QRectF(2, 3, 16, 16), pixmap, QRectF(pixmap.rect()))
        painter.end()


class LifePath(QWidget):
    """`momentChosen(time_ns)` and `linkFollowed(target)`."""

    momentChosen = Signal(object)
    linkFollowed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.steps: tuple[LifeStep, ...] = ()
        self._column = vbox(on=self, margins=(0, 0, 0, 0))
        self._body: QWidget | None = None
        follow_theme(self._show_steps)

    def set_steps(self, steps: tuple[LifeStep, ...]) -> None:
        if steps == self.steps:
            return
        self.steps = steps
        self._show_steps()

    def _show_steps(self) -> None:
        if self._body is not None:
            self._column.removeWidget(self._body)
            self._body.deleteLater()
        self._body = body = QWidget(self)
        grid = QGridLayout(body)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        count, half = len(self.steps), STEPS_SHOWN // 2
        for place, step in enumerate(self.steps):
            if count <= STEPS_SHOWN or not half <= place < count - half:
                self._add(grid, step, first=place == 0, last=place == count - 1)
            elif place == half:
                more = tr("… {count} more steps …", count=f"{count - STEPS_SHOWN:,}")
                grid.addWidget(plain_label(more, "muted", body), grid.rowCount(), 1)
        self._column.addWidget(body)

    def _add(self, grid: QGridLayout, step: LifeStep, *, first: bool, last: bool) -> None:
        body, row = grid.parentWidget(), grid.rowCount()
        if step.heading:
            grid.addWidget(plain_label(step.heading, "section", body, fill=True), row, 0, 1, 2)
            row += 1
        grid.addWidget(_Mark(step.state, first=first, last=last, later=step.later, parent=body), row, 0)
        cell = QWidget(body)
        column = vbox(on=cell, margins=(0, 1, 0, 6), spacing=0)
        word = plain_label(state_style(step.state).word, "muted" if step.later else "", cell)
        moment = LinkButton(cell)
        moment.set_link(step.time, "", tr("Show this moment\n{when}", when=step.hint))
        moment.clicked.connect(lambda: self.momentChosen.emit(step.time_ns))
        line = hbox(moment, word, spacing=8)
        if step.later:
            later = plain_label(tr("yet to come"), "muted", cell)
            set_plain_tip(later, tr("later than the moment shown"))
            line.addWidget(later)
        line.addStretch(1)
        column.addLayout(line)
        if step.detail:
            detail = plain_label(step.detail, "muted", cell, fill=True, selectable=True)
            detail.setFont(tabular_font(12))
            set_plain_tip(detail, step.detail)
            column.addWidget(detail)
        if step.links:
            links = hbox(spacing=10)
            for text, target in step.links:
                link = LinkButton(cell)
                link.set_link(text, target)
                link.followed.connect(self.linkFollowed)
                links.addWidget(link)
            links.addStretch(1)
            column.addLayout(links)
        grid.addWidget(cell, row, 1)


PAYLOAD_HEIGHT = 190
MOMENT = "at:"
Section = tuple[str, tuple[Fact, ...]]


@dataclass(frozen=True, slots=True)
class InspectorFacts:
    """The selected thing: its kind ("Consumer"), name, state word ("" for none), and sections of facts.

    A fact is (label, value) or (label, value, target); the target is the id of another thing, or `at:<time_ns>` for a
    moment. `note` says what is missing. A message has `steps`, and a `payload` where `has_payload`.
    """

    kind: str
    name: str
    state: str = ""
    sections: tuple[Section, ...] = ()
    note: str = ""
    steps: tuple[LifeStep, ...] = ()
    payload: bytes | None = None
    has_payload: bool = False


class InspectorPanel(Panel):
    """Facts of the selected thing; labels are kept, only their texts change.

    `followed(id)` and `momentChosen(time_ns)` for links; `backWanted` and `forwardWanted`.
    """

    info = declared("inspector")

    followed = Signal(str)
    momentChosen = Signal(object)
    backWanted = Signal()
    forwardWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self.facts: InspectorFacts | None = None
        super().__init__(parent)
        self.back = self._turn(tr("Back to the previous item"), self.backWanted)
        self.forward = self._turn(tr("Forward again"), self.forwardWanted)
        self._name = plain_label("", "title", self, wrap=True, selectable=True)
        self._icon = QLabel(self)
        self._state = plain_label("", "", self)
        self._note = plain_label("", "muted", self, fill=True)
        self.sections = SectionsView(self)
        self.sections.linkFollowed.connect(self._follow)
        self._life_title = plain_label(tr("History"), "section", self)
        self.life = LifePath(self)
        self.life.momentChosen.connect(self.momentChosen)
        self.life.linkFollowed.connect(self._follow)
        self._payload_title = plain_label(tr("Payload"), "section", self)
        self.payload = PayloadView(self)
        self.payload.setFixedHeight(PAYLOAD_HEIGHT)
        self._compose()
        self.set_turns(back=False, forward=False)
        follow_theme(self._restyle)

    def _turn(self, hint: str, wanted: object) -> QToolButton:
        button = named(QToolButton(self, autoRaise=True), hint)
        button.setToolTip(hint)
        button.clicked.connect(wanted)
        self.title_row.addWidget(button)
        return button

    def _compose(self) -> None:
        inner = QWidget(self)
        state_row = hbox(self._icon, (self._state, 1), spacing=6)
        # The history of a message comes before its other facts.
        head = (self._name, state_row, self._note, self._life_title, self.life)
        parts = (*head, self.sections, self._payload_title, self.payload, 1)
        vbox(*parts, on=inner, margins=(8, 0, 12, 12), spacing=6)
        self._area = scrolled(inner, self)
        self.stack.addWidget(self._area)

    def set_title_alone(self, on: bool) -> None:
        """Its title has no room for the arrows beside the button that opens it."""
        super().set_title_alone(on)
        for turn in (self.back, self.forward):
            turn.setVisible(not on)

    def set_turns(self, *, back: bool, forward: bool) -> None:
        self.back.setEnabled(back)
        self.forward.setEnabled(forward)

    def set_facts(self, facts: InspectorFacts | None) -> None:
        if facts == self.facts:
            return
        old, self.facts = self.facts, facts
        self.show_body(facts is not None)
        self.set_count(facts.kind if facts is not None else "")
        if facts is None:
            return
        self._name.setText(contained(facts.name))
        self._note.setText(contained(facts.note))
        self._note.setVisible(bool(facts.note))
        self._show_state()
        self.sections.set_sections(facts.sections)
        self._life_title.setVisible(bool(facts.steps))
        self.life.setVisible(bool(facts.steps))
        self.life.set_steps(facts.steps)
        self._payload_title.setVisible(facts.has_payload)
        self.payload.setVisible(facts.has_payload)
        if facts.has_payload:
            self.payload.set_data(facts.payload)
        if old is None or (old.kind, old.name) != (facts.kind, facts.name):
            self._area.verticalScrollBar().setValue(0)

    def _follow(self, target: str) -> None:
        if target.startswith(MOMENT):
            self.momentChosen.emit(int(target.removeprefix(MOMENT)))
        else:
            self.followed.emit(target)

    def _restyle(self) -> None:
        theme = current_theme()
        self.back.setIcon(icon("chevron-left", theme))
        self.forward.setIcon(icon("chevron-right", theme))
        self._show_state()

    def _show_state(self) -> None:
        state = self.facts.state if self.facts is not None else ""
        self._icon.setVisible(bool(state))
        self._state.setVisible(bool(state))
        if state:
            show_state(state, self._icon, self._state)
