from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from widgets.dialogs.form import Field, FormDialog
from widgets.i18n import tr


class AttachDialog(FormDialog):
    """`chosen(values)` when Attach is pressed; it stays until `accept`, and `fail` says why."""

    def __init__(
        self, addresses: Sequence[str], why_not: Callable[[str], str], *, parent: QWidget | None = None
    ) -> None:
        """`addresses` are those of before, the newest first; `why_not(address)` says what is wrong with one."""
        about = tr(
            "Shows a broker that runs elsewhere, live and recorded. You can make changes on a broker started with "
            "brokerscope serve; a Kafka cluster is only read. The broker keeps running when the window is closed."
        )
        where = tr("http://host:8080, or host:9092 of a Kafka cluster")
        fields = (
            Field("address", tr("Address"), "known", choices=tuple((each, each) for each in addresses), hint=where),
            Field("token", tr("Token"), "secret", hint=tr("if it needs one; it is not stored")),
            Field("ca_file", tr("Certificates to trust"), hint=tr("PEM file, for https; if empty, the system's")),
            Field(
                "config",
                "client.properties",
                hint=tr("how to connect to a cluster, with user name and password; empty for none"),
            ),
            Field("hides_hosts", tr("Record no addresses of hosts"), "check"),
        )
        super().__init__(
            tr("Attach"), about, fields, tr("Attach"), why_not=lambda values: why_not(values["address"]), parent=parent
        )

    def _accept(self) -> None:
        self.accept_button.setEnabled(False)
        self.problem.setText(tr("Connecting..."))
        self.chosen.emit(self.values())

    def fail(self, sentence: str) -> None:
        self.accept_button.setEnabled(True)
        self.problem.setText(sentence)
