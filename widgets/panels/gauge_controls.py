"""Limit, rate and policy of a gauge, changed in place."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QSpinBox, QWidget

from widgets.dialogs.form import indent
from widgets.facts import set_plain_tip
from widgets.words import mark, tr

POLICIES = (
    ("block", mark("block")),
    ("reject", mark("reject")),
    ("drop_newest", mark("drop newest")),
    ("drop_oldest", mark("drop oldest")),
    ("priority_evict", mark("by priority")),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a topic or queue takes; None is "no limit"."""

    max_messages: int | None
    rate_per_s: float | None
    policy: str


class GaugeControls(QWidget):
    """`changed(Limits)` when a person has chosen others; figures that come meanwhile do not disturb who types."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._limits: Limits | None = None
        self.limit = QSpinBox(self)
        self.limit.setRange(0, 1_000_000_000)
        self.limit.setGroupSeparatorShown(True)
        self.limit.setSpecialValueText(tr("no limit"))
        self.rate = QDoubleSpinBox(self)
        self.rate.setRange(0, 1_000_000)
        self.rate.setDecimals(1)
        self.rate.setSpecialValueText(tr("any rate"))
        self.rate.setSuffix(tr("/s"))
        self.policy = QComboBox(self)
        for name, word in POLICIES:
            self.policy.addItem(tr(word), name)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for widget, name in (
            (self.limit, tr("Depth at most")),
            (self.rate, tr("Rate at most")),
            (self.policy, tr("When it is reached")),
        ):
            widget.setAccessibleName(name)
            widget.setMinimumWidth(60)
            widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            set_plain_tip(widget, name)
            row.addWidget(widget, 1)
        for box in (self.limit, self.rate):
            box.setKeyboardTracking(False)
            indent(box)
        self.limit.valueChanged.connect(lambda _value: self._tell())
        self.rate.valueChanged.connect(lambda _value: self._tell())
        self.policy.activated.connect(lambda _place: self._tell())

    def set_limits(self, limits: Limits, why_not: str = "") -> None:
        """Show what holds now; `why_not` says why it cannot be changed."""
        if self.isEnabled() == bool(why_not):
            self.setEnabled(not why_not)
        for widget in (self.limit, self.rate, self.policy):
            set_plain_tip(widget, why_not or widget.accessibleName())
        typing = any(widget.hasFocus() for widget in (self.limit, self.rate, self.policy))
        if limits == self._limits or (typing and self._limits is not None):
            return
        self._limits = limits
        for widget in (self.limit, self.rate, self.policy):
            widget.blockSignals(True)
        self.limit.setValue(limits.max_messages or 0)
        self.rate.setValue(limits.rate_per_s or 0.0)
        self.policy.setCurrentIndex(max(0, self.policy.findData(limits.policy)))
        for widget in (self.limit, self.rate, self.policy):
            widget.blockSignals(False)

    def limits(self) -> Limits:
        """What stands in the fields."""
        return Limits(self.limit.value() or None, self.rate.value() or None, str(self.policy.currentData()))

    def _tell(self) -> None:
        chosen = self.limits()
        if chosen != self._limits:
            self._limits = chosen
            self.changed.emit(chosen)
