from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from app.commands.context import CommandContext, Handlers
from app.commands.registry import Command
from app.sessions.observed import ObservedSource, attached, why_no_address
from broker_core.errors import BrokerError
from broker_core.observation.peers import peer_at
from widgets.dialogs.attach import AttachDialog
from widgets.dialogs.form import Values
from widgets.i18n import tr

MOST_RECENT = 10


class AttachHandlers(Handlers):
    COMMANDS = (
        Command("attach", "Attach...", "Session", "Ctrl+Shift+A", "running", "Shows a broker that runs elsewhere."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._asked = 0
        context.registry.bind("attach", self.ask)
        context.controller.opened.connect(self._remember)

    def ask(self) -> None:
        recent = self._context.settings.recent_addresses
        dialog = AttachDialog(recent, why_no_address, parent=self._context.window)
        dialog.chosen.connect(partial(self._attach, dialog))
        dialog.open()

    def _attach(self, dialog: AttachDialog, values: Values) -> None:
        """In a thread of its own: it may take ten seconds until nobody answers."""
        controller = self._controller
        self._asked += 1
        asked = self._asked
        dialog.rejected.connect(self._forget)
        worker = ThreadPoolExecutor(1, thread_name_prefix="attach")
        sessions = controller.sessions

        def observed() -> ObservedSource:
            config = Path(values["config"]) if values["config"] else None
            peer = peer_at(values["address"], token=values["token"], ca_file=values["ca_file"], config=config)
            return attached(peer, record=controller.record, sessions=sessions, hides_hosts=values["hides_hosts"])

        def show(source: ObservedSource) -> None:
            if asked == self._asked:
                dialog.accept()
                controller.observe(source)
            else:
                source.close()

        def fail(error: BrokerError) -> None:
            if asked == self._asked:
                dialog.fail(str(error))

        self._answers.follow(worker.submit(observed), show, fail)
        worker.shutdown(wait=False)

    def _forget(self) -> None:
        self._asked += 1

    def _remember(self) -> None:
        if isinstance(source := self._controller.source, ObservedSource) and self._controller.path is None:
            address, settings = source.session.peer.address, self._context.settings
            others = [each for each in settings.recent_addresses if each != address]
            settings.recent_addresses = (address, *others)[:MOST_RECENT]
            self._context.show_message(tr("Attached to {where}.", where=address))
