from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal

from app.commands.context import CommandContext, Handlers
from app.commands.forms import Form, choice, form_of
from app.environment.paths import deeds_file, keep_ports, kept_ports
from app.sessions.core_sentences import error_text
from app.sessions.observed import ObservedSource, attached, why_no_address
from broker_core.errors import BrokerError
from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.kafka.config import connection_config, is_cluster, passed_over
from broker_core.observation.peer import Peer
from broker_core.observation.peers import peer_at
from widgets.dialogs.form import FormDialog, Values
from widgets.i18n import tr

MOST_RECENT = 10


class AttachDialog(FormDialog):
    """`chosen(values)` when it is accepted; it stays until `accept`, and `fail` says why."""

    def _accept(self) -> None:
        self.accept_button.setEnabled(False)
        self.problem.setText("")
        self.note.setText(tr("Connecting..."))
        self.note.show()
        self.chosen.emit(self.values())

    def fail(self, sentence: str) -> None:
        self.accept_button.setEnabled(True)
        self.note.hide()
        self.problem.setText(sentence)


class AttachHandlers(Handlers):
    _told = Signal(str)  # by another thread

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._asked = 0
        self._told.connect(context.show_message)
        context.registry.bind("attach", self.ask)
        context.registry.bind("between", self.ask_between)
        context.controller.opened.connect(self._remember)
        parts = context.window.parts
        parts.rebalances.between_wanted.connect(self.ask_between)
        parts.navigator.filterChanged.connect(self._keep_filter)

    def ask(self) -> None:
        form = form_of("attach", {"address": choice(self._context.settings.recent_addresses)})
        self._open(form, why_no_address, _observer)

    def ask_between(self) -> None:
        from broker_core.listeners.between.peer import DEFAULT_PORT  # loads the listener, which few windows need

        clusters = [each for each in self._context.settings.recent_addresses if is_cluster(each)]
        form = form_of("between", {"address": choice(clusters), "port": {"value": DEFAULT_PORT}})
        self._open(form, _why_no_cluster, self._passing)

    def _open(self, form: Form, why_not: Callable[[str], str], peer_of: Callable[[Values], Peer]) -> None:
        """`why_not(address)` says what is wrong with one."""
        dialog = AttachDialog(*form[:4], why_not=lambda values: why_not(values["address"]), parent=self._context.window)
        dialog.chosen.connect(partial(self._attach, dialog, peer_of))
        dialog.open()

    def _passing(self, values: Values) -> Peer:
        from broker_core.listeners.between.peer import BetweenPeer

        return BetweenPeer(
            connection_config(values["address"], _config(values)),
            port=values["port"],
            token=values["token"] if values["login"] == "token" else "",
            logs_in=bool(values["login"]),
            shared=values["login"] == "shared",
            node_order=kept_ports,
            keep=keep_ports,
            told=self._told.emit,
            journal=DeedJournal(deeds_file()),
        )

    def _attach(self, dialog: AttachDialog, peer_of: Callable[[Values], Peer], values: Values) -> None:
        """Attach in a thread, since it may take ten seconds until an absent broker is given up."""
        controller = self._controller
        self._asked += 1
        asked = self._asked
        dialog.rejected.connect(self._forget)
        if (file := _config(values)) is not None and (said := passed_over(file)):
            self._context.show_message(said)
        sessions = controller.sessions

        def observed() -> ObservedSource:
            hides_hosts = values["hides_hosts"]
            return attached(peer_of(values), record=controller.record, sessions=sessions, hides_hosts=hides_hosts)

        def show(source: ObservedSource) -> None:
            if asked != self._asked:
                source.close()
                return
            dialog.accept()
            self._context.leaving.then(partial(controller.observe, source), source.close)

        def fail(error: BrokerError) -> None:
            if asked == self._asked:
                dialog.fail(error_text(error))

        self._answers.work("attach", observed, show, fail)

    def _forget(self) -> None:
        self._asked += 1

    def _keep_filter(self, text: str) -> None:
        if isinstance(source := self._controller.source, ObservedSource):
            settings, address = self._context.settings, source.session.peer.address
            kept = {each: settings.cluster_filters.get(each, "") for each in settings.recent_addresses}
            settings.cluster_filters = {each: one for each, one in (kept | {address: text}).items() if one}

    def _remember(self) -> None:
        if isinstance(source := self._controller.source, ObservedSource) and self._controller.path is None:
            address, settings = source.session.peer.address, self._context.settings
            others = [each for each in settings.recent_addresses if each != address]
            settings.recent_addresses = (address, *others)[:MOST_RECENT]
            self._context.window.parts.navigator.filter_field.setText(settings.cluster_filters.get(address, ""))
            listens = source.session.peer.facts.listens
            told = tr("Attached to {where}.", where=address)
            if listens:
                told = tr("bootstrap.servers={listens} leads to {where} from now on.", listens=listens, where=address)
            self._context.show_message(told)


def _config(values: Values) -> Path | None:
    return Path(values["config"]) if values["config"] else None


def _observer(values: Values) -> Peer:
    given = {name: values[name] for name in ("token", "ca_file")}
    return peer_at(values["address"], config=_config(values), journal=DeedJournal(deeds_file()), **given)


def _why_no_cluster(address: str) -> str:
    return why_no_address(address) if is_cluster(address) else tr("It has to be HOST:PORT of a Kafka cluster.")
