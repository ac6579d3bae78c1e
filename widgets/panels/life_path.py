from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from widgets.boxes import hbox, vbox
from widgets.controls import LinkButton, plain_label, set_plain_tip
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.theme import current_theme, follow_theme, mix, qcolour, state_style, tabular_font

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
    """The steps of a message below each other. `momentChosen(time_ns)` and `linkFollowed(target)` for links."""

    momentChosen = Signal(object)
    linkFollowed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.steps: tuple[LifeStep, ...] = ()
        self._column = vbox(on=self, margins=(0, 0, 0, 0))
        self._body: QWidget | None = None
        follow_theme(self._show_steps)

    def set_steps(self, steps: tuple[LifeStep, ...]) -> None:
        if steps != self.steps:
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
