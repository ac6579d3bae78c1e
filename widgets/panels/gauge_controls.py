"""Limit, rate and policy of a gauge, changed in place."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSpinBox, QWidget

from widgets.dialogs.form import indent
from widgets.facts import set_plain_tip
from widgets.i18n import mark, tr

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
    """What a topic or queue takes; None is "no limit"."""

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
        self.rate = QDoubleSpinBox(gauge)
        self.rate.setRange(0, 1_000_000)
        self.rate.setDecimals(1)
        self.rate.setSpecialValueText(tr("any rate"))
        self.rate.setSuffix(tr("/s"))
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
        """The policy stands in a place of its own, limit and rate side by side in `row`."""
        half = (row.width() - _BETWEEN) // 2
        self.policy.setGeometry(policy)
        self.limit.setGeometry(row.x(), row.y(), half, row.height())
        self.rate.setGeometry(row.right() + 1 - half, row.y(), half, row.height())

    def set_visible(self, visible: bool) -> None:
        for field in self._fields:
            field.setVisible(visible)

    def set_limits(self, limits: Limits, why_not: str = "") -> None:
        """Show what holds now; `why_not` says why it cannot be changed."""
        for field in self._fields:
            if field.isEnabled() == bool(why_not):
                field.setEnabled(not why_not)
            set_plain_tip(field, why_not or field.accessibleName())
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
