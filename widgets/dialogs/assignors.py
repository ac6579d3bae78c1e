from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHeaderView, QRadioButton, QWidget

from widgets.boxes import vbox
from widgets.controls import plain_label, set_why_not
from widgets.dialogs.dialog import MARGINS, Dialog, TextTable
from widgets.i18n import tr

ROWS_MAX = 2_000


@dataclass(frozen=True, slots=True)
class AssignorPlan:
    """The plan of one assignor: the owner of each partition, and how many would move and stay."""

    name: str
    owners: tuple[str, ...]
    moved: int
    kept: int
    about: str
    current: bool = False


class AssignorsDialog(Dialog):
    """A column for each assignor; `chosen(name)` on Switch."""

    chosen = Signal(str)

    def __init__(
        self,
        group: str,
        places: Sequence[str],
        now: Sequence[str],
        plans: Sequence[AssignorPlan],
        *,
        why_not: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """`places` are the partitions, `now` their owners; `why_not` says why nothing can be switched now."""
        super().__init__(tr("Assignors of {group}", group=group), parent, modal=True, once=True)
        self._plans = tuple(plans)
        self._why_not = why_not
        self._places, self._now = tuple(places), tuple(now)
        self.radios: dict[str, QRadioButton] = {}
        self.group = QButtonGroup(self)
        grid = QGridLayout()
        grid.setHorizontalSpacing(18)
        for row, plan in enumerate(self._plans):
            words = tr("{assignor} (now)", assignor=plan.name) if plan.current else plan.name
            radio = QRadioButton(words, self)
            told = tr("{moved} would move, {kept} would stay", moved=plan.moved, kept=plan.kept)
            about = plain_label(plan.about, "muted", self)
            radio.setAccessibleDescription(f"{told}. {plan.about}")
            grid.addWidget(radio, row, 0)
            grid.addWidget(plain_label(told, "", self), row, 1)
            grid.addWidget(about, row, 2)
            self.radios[plan.name] = radio
            self.group.addButton(radio, row)
        grid.setColumnStretch(2, 1)
        rows = min(len(self._places), ROWS_MAX)
        self.table = TextTable(rows, 2 + len(self._plans), tr("Owners by assignor"), self)
        self._fill()
        note = tr(
            "To switch, all members leave and rejoin together; sticky assignors then start without previous owners."
        )
        self.problem = plain_label("", "problem", self, fill=True)
        self.make_buttons("", tr("Close"))
        vbox(
            plain_label(tr("What would each assignor do with {group} now?", group=group), "heading", self),
            grid,
            (self.table, 1),
            plain_label(note, "muted", self, fill=True),
            self.problem,
            self.buttons,
            on=self,
            margins=MARGINS,
            spacing=10,
        )
        self.group.idToggled.connect(lambda _id, _on: self._judge())
        first = next((plan.name for plan in self._plans if not plan.current), "")
        if first in self.radios:
            self.radios[first].setChecked(True)
            self.radios[first].setFocus()
        self._judge()
        self.resize(820, 520)

    def _fill(self) -> None:
        table = self.table
        table.setHorizontalHeaderLabels([tr("Partition"), tr("Owner now"), *(plan.name for plan in self._plans)])
        for row in range(table.rowCount()):
            now = self._now[row]
            table.put(row, 0, self._places[row])
            table.put(row, 1, now or tr("nobody"))
            for column, plan in enumerate(self._plans, 2):
                owner = plan.owners[row]
                words = owner or tr("nobody")
                table.put(row, column, words if owner == now else f"\u2192 {words}", bold=owner != now)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)

    def plan(self) -> AssignorPlan | None:
        checked = self.group.checkedId()
        return self._plans[checked] if 0 <= checked < len(self._plans) else None

    def _judge(self) -> None:
        plan = self.plan()
        words = "" if plan is None else plan.name
        why = self._why_not
        if plan is None:
            why = tr("Choose an assignor.")
        elif plan.current:
            why = why or tr("The group already uses {assignor}.", assignor=words)
        self.accept_button.setText(tr("Switch to {assignor}", assignor=words) if words else tr("Switch"))
        set_why_not(self.accept_button, why)
        self.problem.setText(why)

    def _accept(self) -> None:
        plan = self.plan()
        if plan is not None and self.accept_button.isEnabled():
            self.accept()
            self.chosen.emit(plan.name)
