from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QGridLayout, QLabel, QSizePolicy, QSpinBox, QWidget

from widgets.boxes import hbox, put_in_columns, scrolled, vbox
from widgets.dialogs.form import indent
from widgets.facts import LinkButton, plain_label, set_plain_tip, set_why_not
from widgets.i18n import mark, tr
from widgets.icons import icon_pixmap
from widgets.panels.cell_painter import draw_bar, draw_text, tabular_font
from widgets.panels.panel import Panel, declared
from widgets.theme import Theme, current_theme, follow_theme, px, qcolour, state_style, ui_font

CHAINS_MAX = 5
ARROW = "\u2190"


@dataclass(frozen=True, slots=True)
class ChainLink:
    words: str
    target: str


@dataclass(frozen=True, slots=True)
class BlockChain:
    """From a waiting client to what it waits for, and since when, in words."""

    links: tuple[ChainLink, ...]
    since: str

    def sentence(self) -> str:
        return f" {ARROW} ".join(link.words for link in self.links) + f" ({self.since})"


class BlockChains(QWidget):
    """A line for each; `followed(id)` on a click on a link."""

    followed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = vbox(on=self, margins=(12, 2, 12, 6), spacing=2)
        self._lines: list[_Line] = []
        self.chains: tuple[BlockChain, ...] = ()
        self.hide()

    def set_chains(self, chains: Sequence[BlockChain]) -> None:
        """Show these, at most `CHAINS_MAX`. Lines are used again, so that a click on one is never lost."""
        shown = tuple(chains[:CHAINS_MAX])
        if shown == self.chains:
            return
        self.chains = shown
        while len(self._lines) < len(shown):
            line = _Line(self)
            line.followed.connect(self.followed)
            self._column.addWidget(line)
            self._lines.append(line)
        for place, line in enumerate(self._lines):
            line.setVisible(place < len(shown))
            if place < len(shown):
                line.set_chain(shown[place])
        self.setVisible(bool(shown))

    def buttons(self) -> list[LinkButton]:
        return [button for line in self._lines[: len(self.chains)] for button in line.buttons()]


class _Line(QWidget):
    followed = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._row = hbox(on=self, margins=(0, 0, 0, 0), spacing=6)
        self._links: list[tuple[QLabel, LinkButton]] = []
        self._shown = 0
        self._since = plain_label("", "muted", self)
        self._since.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._row.addWidget(self._since, 1)

    def buttons(self) -> list[LinkButton]:
        return [button for _, button in self._links[: self._shown]]

    def set_chain(self, chain: BlockChain) -> None:
        while len(self._links) < len(chain.links):
            arrow, button = plain_label(ARROW, "muted", self), LinkButton(self)
            button.followed.connect(self.followed)
            for widget in (arrow, button):
                self._row.insertWidget(self._row.count() - 1, widget)
            self._links.append((arrow, button))
        self._shown = len(chain.links)
        for place, (arrow, button) in enumerate(self._links):
            arrow.setVisible(0 < place < self._shown)
            button.setVisible(place < self._shown)
            if place < self._shown:
                link = chain.links[place]
                button.set_link(link.words, link.target, f"{link.words}\n{tr('Shows it on the canvas.')}")
        self._since.setText(f"({chain.since})")
        set_plain_tip(self._since, chain.sentence())  # of which a narrow panel shows the beginning
        self.setAccessibleName(chain.sentence())


POLICIES = (
    ("block", mark("block")),
    ("reject", mark("reject")),
    ("drop_newest", mark("drop newest")),
    ("drop_oldest", mark("drop oldest")),
    ("priority_evict", mark("by priority")),
)
_BETWEEN = 6


@dataclass(frozen=True, slots=True)
class Limits:
    max_messages: int | None
    rate_per_s: float | None
    policy: str


class GaugeControls(QObject):
    """Three fields on a gauge, which places them.

    `changed(Limits)` when the user has changed them; new figures do not overwrite a field with the focus.
    """

    changed = Signal(object)

    def __init__(self, gauge: QWidget) -> None:
        super().__init__(gauge)
        self._limits: Limits | None = None
        self.limit = QSpinBox(gauge)
        self.limit.setRange(0, 1_000_000_000)
        self.limit.setGroupSeparatorShown(True)
        self.limit.setSpecialValueText(tr("no limit"))
        self.rate = QDoubleSpinBox(gauge, decimals=1, suffix=tr("/s"))
        self.rate.setRange(0, 1_000_000)
        self.rate.setSpecialValueText(tr("any rate"))
        self.policy = QComboBox(gauge)
        for name, word in POLICIES:
            self.policy.addItem(tr(word), name)
        self._fields = (self.limit, self.rate, self.policy)
        for widget, name in (
            (self.limit, tr("Depth at most")),
            (self.rate, tr("Rate at most")),
            (self.policy, tr("When it is reached")),
        ):
            widget.setAccessibleName(name)
            widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            set_plain_tip(widget, name)
        for box in (self.limit, self.rate):
            box.setKeyboardTracking(False)
            indent(box)
        self.limit.valueChanged.connect(lambda _value: self._report())
        self.rate.valueChanged.connect(lambda _value: self._report())
        self.policy.activated.connect(lambda _place: self._report())

    def place(self, policy: QRect, row: QRect) -> None:
        half = (row.width() - _BETWEEN) // 2
        self.policy.setGeometry(policy)
        self.limit.setGeometry(row.x(), row.y(), half, row.height())
        self.rate.setGeometry(row.right() + 1 - half, row.y(), half, row.height())

    def set_visible(self, visible: bool) -> None:
        for field in self._fields:
            field.setVisible(visible)

    def set_limits(self, limits: Limits, why_not: str = "") -> None:
        for field in self._fields:
            set_why_not(field, why_not, field.accessibleName())
        typing = any(field.hasFocus() for field in self._fields)
        if limits == self._limits or (typing and self._limits is not None):
            return
        self._limits = limits
        for field in self._fields:
            field.blockSignals(True)
        self.limit.setValue(limits.max_messages or 0)
        self.rate.setValue(limits.rate_per_s or 0.0)
        self.policy.setCurrentIndex(max(0, self.policy.findData(limits.policy)))
        for field in self._fields:
            field.blockSignals(False)

    def limits(self) -> Limits:
        return Limits(self.limit.value() or None, self.rate.value() or None, str(self.policy.currentData()))

    def _report(self) -> None:
        chosen = self.limits()
        if chosen != self._limits:
            self._limits = chosen
            self.changed.emit(chosen)


GAUGE_WIDTH = 300
GAUGE_HEIGHT = 166
CONTROLS_TOP = 128
CONTROL_HEIGHT = 31
POLICY_SHARE = 0.6  # of the width
GAUGES_MAX = 60


@dataclass(frozen=True, slots=True)
class GaugeFacts:
    """A gate as texts. `share` is depth over limit (0..1), None without a limit; `blocked` are sentences;
    `turned_away` sums up what became of what found no room.

    `limits` are what can be changed in place; None if nothing can.
    """

    target: str
    kind: str
    state: str
    depth: str
    share: float | None
    policy: str
    rate: str
    slowest: str
    blocked: tuple[str, ...]
    turned_away: str
    limits: Limits | None = None


class Gauge(QWidget):
    """One gauge, drawn: name and state, depth against limit, blocked producers, messages turned away."""

    chosen = Signal(str)
    limitsChosen = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.facts: GaugeFacts | None = None
        self.controls = GaugeControls(self)
        self.controls.changed.connect(self._report_limits)
        follow_theme(self._fit)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(px(GAUGE_WIDTH), px(GAUGE_HEIGHT))

    def _fit(self) -> None:
        least = QSize(px(GAUGE_WIDTH - 30), px(GAUGE_HEIGHT))
        if self.minimumSize() != least:
            self.setMinimumSize(least)
        height, width = px(CONTROL_HEIGHT), self.width() - 20
        policy_width = round(width * POLICY_SHARE)
        policy = QRect(10 + width - policy_width, px(30), policy_width, height - 2)
        self.controls.place(policy, QRect(10, px(CONTROLS_TOP), width, height))

    def _report_limits(self, limits: Limits) -> None:
        if self.facts is not None:
            self.limitsChosen.emit(self.facts.target, limits)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def set_facts(self, facts: GaugeFacts, why_not: str = "") -> None:
        """Show a gate; nothing is drawn if nothing changed. `why_not` says why nothing can be changed now."""
        self.controls.set_visible(facts.limits is not None)
        if facts.limits is not None:
            self.controls.set_limits(facts.limits, why_not)
        if facts != self.facts:
            self.facts = facts
            waiting = "\n".join(facts.blocked) or tr("No producer waits.")
            set_plain_tip(self, f"{facts.target}\n{waiting}\n{facts.turned_away}")
            self.setAccessibleName(
                tr(
                    "{target}: {state}, depth {depth}",
                    target=facts.target,
                    state=state_style(facts.state).word,
                    depth=facts.depth,
                )
            )
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.facts is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(self.facts.target)
        super().mousePressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.facts is None:
            return
        theme, facts = current_theme(), self.facts
        style = state_style(facts.state)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(qcolour(theme.colour(style.token) if facts.state == "Full" else theme.border), 1))
        painter.setBrush(qcolour(theme.surface))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        self._draw_head(painter, facts, theme)
        inner = QRectF(12, 0, self.width() - 24, 0)
        colour = theme.colour(style.token)
        share = facts.share
        if share is not None:
            draw_bar(painter, QRectF(inner.x(), px(62), inner.width(), px(8)), share, colour, theme)
        room, bold = 0.98 - POLICY_SHARE, QFont.Weight.DemiBold
        fits = (
            size
            for size in (15, 13)
            if QFontMetricsF(tabular_font(size, bold)).horizontalAdvance(facts.depth) <= inner.width() * room
        )
        self._line(painter, 36, facts.depth, theme.text, next(fits, 12), bold, width=room)
        self._line(painter, 74, self._waiting(facts), theme.colour("failure") if facts.blocked else theme.muted)
        self._line(painter, 91, facts.slowest, theme.muted)
        self._line(painter, 108, facts.turned_away, theme.muted)
        if facts.limits is None:
            self._line(painter, 36, facts.policy, theme.muted, 12, right=True, width=POLICY_SHARE)
            self._line(painter, 125, facts.rate, theme.muted)
        painter.end()

    @staticmethod
    def _waiting(facts: GaugeFacts) -> str:
        if not facts.blocked:
            return tr("No producer waits")
        more = tr(", and {count:,} more", count=len(facts.blocked) - 2) if len(facts.blocked) > 2 else ""
        return tr("Blocked: {names}{more}", names=", ".join(facts.blocked[:2]), more=more)

    def _draw_head(self, painter: QPainter, facts: GaugeFacts, theme: Theme) -> None:
        style = state_style(facts.state)
        colour = theme.colour(style.token)
        font = ui_font(12, QFont.Weight.DemiBold)
        width = QFontMetricsF(font).horizontalAdvance(style.word)
        x = self.width() - 12 - width
        draw_text(painter, QRectF(x, px(10), width + 2, px(20)), style.word, font, colour)
        scale = self.devicePixelRatioF()
        painter.drawPixmap(round(x - 20), px(20) - 8, icon_pixmap(style.icon, colour, 16, scale))
        where, bold = QRectF(12, px(10), x - 20 - 12 - 8, px(20)), ui_font(13, QFont.Weight.DemiBold)
        used = draw_text(painter, where, facts.target, bold, theme.text, elide=Qt.TextElideMode.ElideMiddle) + 8
        if where.width() - used > 40:
            draw_text(painter, where.adjusted(used, 0, 0, 0), facts.kind, ui_font(12), theme.muted)

    def _line(
        self,
        painter: QPainter,
        top: float,
        text: str,
        colour: str,
        pixels: int = 12,
        weight: QFont.Weight = QFont.Weight.Normal,
        *,
        right: bool = False,
        width: float = 1.0,
    ) -> None:
        room = (self.width() - 24) * width
        where = QRectF(self.width() - 12 - room if right else 12, px(round(top)), room, px(20))
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        draw_text(painter, where, text, tabular_font(pixels, weight), colour, side)


class BackpressurePanel(Panel):
    """Blocked producers with their causes, then gauges, as many in a row as fit.

    `chosen(target)` on a click on a gauge, `limitsChosen(target, Limits)` when they are changed there, `followed(id)`
    on a link of a chain.
    """

    info = declared("backpressure")

    least_height = 84  # gauges scroll by themselves

    chosen = Signal(str)
    limitsChosen = Signal(str, object)
    followed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[GaugeFacts, ...] = ()
        self.gauges: list[Gauge] = []
        self._across = 0
        self._forbidden = ""
        self.chains = BlockChains(self)
        self.chains.followed.connect(self.followed)
        body = QWidget(self)
        self._inner = QWidget(body)
        self._grid = QGridLayout(self._inner)
        self._grid.setContentsMargins(12, 4, 12, 12)
        self._grid.setSpacing(8)
        self._grid.setAlignment(Qt.AlignmentFlag.AlignTop)
        vbox(self.chains, (scrolled(self._inner, body), 1), on=body, margins=(0, 0, 0, 0), spacing=0)
        self.stack.addWidget(body)
        self.filterChanged.connect(lambda _text: self._show())
        self.set_count("0")

    def forbid(self, reason: str) -> None:
        if reason != self._forbidden:
            self._forbidden = reason
            self._show()

    def set_gauges(self, gauges: Sequence[GaugeFacts]) -> None:
        gauges = tuple(gauges)
        if gauges != self._all:
            self._all = gauges
            self._show()

    def _show(self) -> None:
        words = self.filter_text.casefold().split()
        found = [one for one in self._all if all(word in one.target.casefold() for word in words)]
        if self._inner.underMouse():  # cards stand still under the pointer
            shown_now = (gauge.facts for gauge in self.gauges)
            places = {facts.target: place for place, facts in enumerate(shown_now) if facts is not None}
            found.sort(key=lambda one: places.get(one.target, len(places)))
        shown = found[:GAUGES_MAX]
        changed = len(shown) != len(self.gauges)
        while len(self.gauges) < len(shown):
            gauge = Gauge(self._inner)
            gauge.chosen.connect(self.chosen)
            gauge.limitsChosen.connect(self.limitsChosen)
            self.gauges.append(gauge)
        while len(self.gauges) > len(shown):
            self.gauges.pop().deleteLater()
        for gauge, facts in zip(self.gauges, shown, strict=True):
            gauge.set_facts(facts, self._forbidden)
        if changed:
            self._across = 0
            self._lay_out()
        total = len(self._all)
        self.set_count(
            f"{len(found):,}" if len(found) == total else tr("{count:,} of {total:,}", count=len(found), total=total)
        )
        count, most = len(found), GAUGES_MAX
        cut = tr("The first {most:,} of {count:,} are shown; filter to see others.", most=most, count=count)
        self.set_note(cut if count > most else "")
        self.show_body(bool(shown))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        across = max(1, (self.width() - 24) // px(GAUGE_WIDTH))
        if across == self._across:
            return
        self._across = across
        put_in_columns(self._grid, self.gauges, across)
        for gauge in self.gauges:
            gauge.show()
