from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from widgets.facts import push_button, set_why_not
from widgets.i18n import mark, tr
from widgets.panels.panel import PanelInfo
from widgets.panels.table_panel import TablePanel

_BUTTONS = (
    ("create_acl", mark("Create ACL...")),
    ("set_quota", mark("Set quota...")),
    ("remove_access", mark("Remove...")),
)


class AccessPanel(TablePanel):
    """`wanted(command)` on a button, whose name it is."""

    info = PanelInfo(
        "access",
        "Access",
        "group",
        "ACLs, quotas and users.",
        "Access data that the broker stores; they survive a restart.\n\n- **ACLs** say what a principal may do. They "
        "apply in addition to a listener's access file, whose rules are not listed here. A denial always wins.\n- "
        "**Quotas** limit the bytes per second that Kafka clients may send and fetch, by user and client id.\n- "
        "**Users** authenticate with SCRAM. Passwords are set with `brokerscope users set`, over HTTP or with Kafka's "
        "tools, and are never stored.",
        group="System",
        needs="access",
        spare=True,
        empty="There are no ACLs, quotas or users.",
        how="Create an ACL or set a quota here, on the command line, over HTTP or with Kafka's tools.",
        filter_hint="Filter by principal or resource",
    )

    wanted = Signal(str)

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.buttons: dict[str, QPushButton] = {}
        for command, words in _BUTTONS:
            button = self.buttons[command] = push_button(tr(words), self, by_tab=True)
            button.clicked.connect(lambda _on=False, command=command: self.wanted.emit(command))
            self.title_row.addWidget(button)

    def forbid(self, command: str, why: str) -> None:
        set_why_not(self.buttons[command], why)
