from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QObject, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFont, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QFrame, QLabel, QSizePolicy, QSpinBox, QWidget

from widgets.boxes import Columns, Gap, hbox, one_each, scrolled, vbox
from widgets.controls import LinkButton, named, plain_label, set_plain_tip, set_property, set_why_not, show_state
from widgets.dialogs.field_widgets import indent, show_number
from widgets.drawing import draw_bar
from widgets.i18n import mark, tr
from widgets.line_label import LineLabel
from widgets.panels.panel import Panel, declared
from widgets.theme import current_theme, follow_theme, px, state_style

CHAINS_MAX = 5
ARROW = "\u2190"


@dataclass(frozen=True, slots=True)
class ChainLink:
    words: str
    target: str


@dataclass(frozen=True, slots=True)
class BlockChain:
    """The chain from a waiting client to what it waits for, and since when, in words."""

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
        """Show these, at most `CHAINS_MAX`."""
        shown = tuple(chains[:CHAINS_MAX])
        if shown != self.chains:
            self.chains = shown
            for line, chain in one_each(shown, self._lines, self._add):
                line.set_chain(chain)
            self.setVisible(bool(shown))

    def _add(self, _place: int) -> _Line:
        line = _Line(self)
        line.followed.connect(self.followed)
        self._column.addWidget(line)
        return line


class _Line(QWidget):
    followed = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._since = LineLabel(self, (13,))
        self._row = hbox((self._since, 1), on=self, margins=(0, 0, 0, 0), spacing=6)
        self.links: list[_Link] = []

    def set_chain(self, chain: BlockChain) -> None:
        for link, facts in one_each(chain.links, self.links, self._add):
            link.button.set_link(facts.words, facts.target, f"{facts.words}\n{tr('Shows it on the canvas.')}")
        self._since.set_text(f"({chain.since})")
        set_plain_tip(self._since, chain.sentence())  # of which a narrow panel shows the beginning
        self.setAccessibleName(chain.sentence())

    def _add(self, place: int) -> _Link:
        link = _Link(self, arrow=place > 0)
        link.button.followed.connect(self.followed)
        self._row.insertWidget(place, link)
        return link


class _Link(QWidget):
    def __init__(self, parent: QWidget, *, arrow: bool) -> None:
        super().__init__(parent)
        self.button = LinkButton(self)
        before = (plain_label(ARROW, "muted", self),) if arrow else ()
        hbox(*before, self.button, on=self, margins=(0, 0, 0, 0), spacing=6)


POLICIES = (
    ("block", mark("block")),
    ("reject", mark("reject")),
    ("drop_newest", mark("drop newest")),
    ("drop_oldest", mark("drop oldest")),
    ("priority_evict", mark("by priority")),
)


@dataclass(frozen=True, slots=True)
class Limits:
    max_messages: int | None
    rate_per_s: float | None
    policy: str


class GaugeControls(QObject):
    """Three fields of a gauge. `changed(Limits)` when the user has changed them; new figures do not overwrite a field
    with the focus.
    """

    changed = Signal(object)

    def __init__(self, gauge: QWidget) -> None:
        super().__init__(gauge)
        self._limits: Limits | None = None
        self.limit = QSpinBox(gauge, maximum=1_000_000_000)
        self.limit.setGroupSeparatorShown(True)
        self.limit.setSpecialValueText(tr("no limit"))
        self.rate = QDoubleSpinBox(gauge, decimals=1, maximum=1_000_000, suffix=tr("/s"))
        self.rate.setSpecialValueText(tr("any rate"))
        self.policy = QComboBox(gauge)
        for name, word in POLICIES:
            self.policy.addItem(tr(word), name)
        self._names = {
            self.limit: tr("Depth at most"),
            self.rate: tr("Rate at most"),
            self.policy: tr("When it is reached"),
        }
        for field, name in self._names.items():
            named(field, name).setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            field.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for box in (self.limit, self.rate):
            box.setKeyboardTracking(False)
            indent(box)
        self.limit.valueChanged.connect(lambda depth: self._report(max_messages=depth or None))
        self.rate.valueChanged.connect(lambda per_s: self._report(rate_per_s=per_s or None))
        self.policy.activated.connect(lambda _place: self._report(policy=self.policy.currentData()))

    def set_limits(self, limits: Limits | None, why_not: str = "") -> None:
        """None if nothing can be changed here; `why_not` says why nothing can now."""
        for field, name in self._names.items():
            field.setVisible(limits is not None)
            set_why_not(field, why_not, name)
        typing = self._limits is not None and any(field.hasFocus() for field in self._names)
        if limits is None or limits == self._limits or typing:
            return
        self._limits = limits  # before the fields, which would report it
        with QSignalBlocker(self.limit), QSignalBlocker(self.rate):
            self.limit.setValue(limits.max_messages or 0)
            show_number(self.rate, limits.rate_per_s or 0.0)
        self.policy.setCurrentIndex(max(0, self.policy.findData(limits.policy)))

    def _report(self, **changed: Any) -> None:
        # A rate may have more decimals than its field shows.
        if self._limits is not None and (chosen := replace(self._limits, **changed)) != self._limits:
            self._limits = chosen
            self.changed.emit(chosen)


GAUGE_WIDTH = 300
GAUGE_HEIGHT = 166
FIELD_HEIGHT = 31
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


class _Bar(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._shown: tuple[float | None, str] = None, ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_share(self, share: float | None, token: str) -> None:
        if (share, token) != self._shown:
            self._shown = share, token
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(0, px(13))

    def paintEvent(self, _event: QPaintEvent) -> None:
        share, token = self._shown
        if share is not None:
            theme, painter = current_theme(), QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw_bar(painter, QRectF(0, px(3), self.width(), px(8)), share, theme.colour(token), theme)
            painter.end()


class Gauge(QFrame):
    """One gauge: name and state, depth against limit, blocked producers, messages turned away."""

    chosen = Signal(str)
    limitsChosen = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.facts: GaugeFacts | None = None
        bold = QFont.Weight.DemiBold
        self._name = LineLabel(self, (13,), height=20, weight=bold, elide=Qt.TextElideMode.ElideMiddle)
        self._kind = plain_label("", "muted", self)
        self._icon, self._state = QLabel(self), plain_label("", "heading", self)
        self._depth = LineLabel(self, (15, 13, 12), height=FIELD_HEIGHT, weight=bold)
        self._policy = LineLabel(self, height=FIELD_HEIGHT, side=Qt.AlignmentFlag.AlignRight)
        self._bar = _Bar(self)
        self._waiting, self._slowest, self._turned_away = (LineLabel(self) for _ in range(3))
        self._rate = LineLabel(self)
        self.controls = controls = GaugeControls(self)
        controls.changed.connect(self._report_limits)
        head = hbox((self._name, 1), self._kind, self._icon, self._state, spacing=6)
        depth = hbox((self._depth, 2), (self._policy, 3), (controls.policy, 3), spacing=6)
        fields = hbox((controls.limit, 1), (controls.rate, 1), spacing=6)
        lines = self._bar, self._waiting, self._slowest, self._turned_away, self._rate
        vbox(head, depth, *lines, Gap(3), fields, 1, on=self, margins=(11, 8, 11, 5), spacing=0)
        follow_theme(self._restyle)

    def _restyle(self) -> None:
        self.setMinimumWidth(px(GAUGE_WIDTH - 30))
        self.setFixedHeight(px(GAUGE_HEIGHT))
        if self.facts is not None:
            show_state(self.facts.state, self._icon, self._state)

    def _report_limits(self, limits: Limits) -> None:
        if self.facts is not None:
            self.limitsChosen.emit(self.facts.target, limits)

    def set_facts(self, facts: GaugeFacts, why_not: str = "") -> None:
        """Show a gate; what has not changed is not drawn. `why_not` says why nothing can be changed now."""
        fixed = facts.limits is None
        self.controls.set_limits(facts.limits, why_not)
        if facts == self.facts:
            return
        old, self.facts = self.facts, facts
        style = state_style(facts.state)
        if old is None or old.state != facts.state:
            show_state(facts.state, self._icon, self._state)
            set_property(self, "look", "problem" if facts.state == "Full" else "")
        self._kind.setText(facts.kind)
        self._policy.setVisible(fixed)
        self._rate.setVisible(fixed)
        self._bar.set_share(facts.share, style.token)
        self._name.set_text(facts.target, "text")
        self._depth.set_text(facts.depth, "text")
        self._policy.set_text(facts.policy)
        self._waiting.set_text(_waiting(facts), "failure" if facts.blocked else "muted")
        self._slowest.set_text(facts.slowest)
        self._turned_away.set_text(facts.turned_away)
        self._rate.set_text(facts.rate)
        waiting = "\n".join(facts.blocked) or tr("No producer waits.")
        set_plain_tip(self, f"{facts.target}\n{waiting}\n{facts.turned_away}")
        said = tr("{target}: {state}, depth {depth}", target=facts.target, state=style.word, depth=facts.depth)
        self.setAccessibleName(said)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.facts is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(self.facts.target)
        super().mousePressEvent(event)


def _waiting(facts: GaugeFacts) -> str:
    if not facts.blocked:
        return tr("No producer waits")
    more = tr(", and {count:,} more", count=len(facts.blocked) - 2) if len(facts.blocked) > 2 else ""
    return tr("Blocked: {names}{more}", names=", ".join(facts.blocked[:2]), more=more)


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
        self._forbidden = ""
        self.chains = BlockChains(self)
        self.chains.followed.connect(self.followed)
        body, self._inner = QWidget(self), QWidget(self)
        self._columns = Columns(GAUGE_WIDTH, self._inner, margins=(12, 4, 12, 12), spacing=8)
        vbox(self._columns, 1, on=self._inner, margins=(0, 0, 0, 0))
        vbox(self.chains, (scrolled(self._inner, body), 1), on=body, margins=(0, 0, 0, 0), spacing=0)
        self.stack.addWidget(body)
        self.filterChanged.connect(self._show)
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
        for gauge, facts in one_each(found[:GAUGES_MAX], self.gauges, self._add):
            gauge.set_facts(facts, self._forbidden)
        if len(self.gauges) != len(self._columns.widgets):
            self._columns.put(self.gauges)
        count, total, most = len(found), len(self._all), GAUGES_MAX
        self.set_count(f"{count:,}" if count == total else tr("{count:,} of {total:,}", count=count, total=total))
        cut = tr("The first {most:,} of {count:,} are shown; filter to see others.", most=most, count=count)
        self.set_note(cut if count > most else "")
        self.show_body(bool(found))

    def _add(self, _place: int) -> Gauge:
        gauge = Gauge(self._columns)
        gauge.chosen.connect(self.chosen)
        gauge.limitsChosen.connect(self.limitsChosen)
        return gauge
