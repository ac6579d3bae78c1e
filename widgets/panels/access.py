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
        "Who may do what, and how much: ACLs, quotas and users.",
        "What the broker keeps about its clients; a restart keeps it, too.\n\n"
        "- **ACLs** say what a principal may do. They hold beside the access file of a listener, whose rules are not "
        "listed here. What denies wins.\n"
        "- **Quotas** limit the bytes a second that Kafka clients may send and fetch, by user and client id.\n"
        "- **Users** authenticate by SCRAM. Passwords are set by `brokerscope users set`, by HTTP or by Kafka's tools, "
        "and are kept nowhere.",
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
