from __future__ import annotations

from app.commands.context import CommandContext, Handlers, lacking
from app.commands.forms import form_of
from broker_core.observation.guard import WRITES
from widgets.dialogs.form import FormDialog, Values
from widgets.i18n import tr

UNLOCKED_S = 15 * 60.0


class GuardHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        none = tr("Only a Kafka cluster that runs elsewhere is locked.")
        is_guarded = lacking(lambda: context.controller.source.guarded, none)
        context.registry.bind("unlock", self.ask_unlock, is_guarded)
        context.registry.bind("lock", self._lock, is_guarded, self._why_locked)

    def _why_locked(self) -> str:
        guarded = self._controller.source.guarded
        return "" if guarded and guarded.guard.verbs else tr("It is locked.")

    def ask_unlock(self) -> FormDialog:
        guarded = self._controller.source.guarded
        assert guarded is not None
        name = guarded.name

        def why_not(values: Values) -> str:
            return "" if values["name"].strip() == name else tr("Type the name of the cluster: {name}", name=name)

        def unlock(_values: Values) -> None:
            guarded.guard.unlock(tuple(WRITES), UNLOCKED_S)
            self._context.show_message(tr("{name} is unlocked for 15 minutes.", name=name))

        form = form_of("unlock", {"name": {"hint": name}}, principal=guarded.principal)
        dialog = form.dialog(self._context.window, why_not)
        dialog.chosen.connect(unlock)
        dialog.open()
        return dialog

    def _lock(self) -> None:
        guarded = self._controller.source.guarded
        if guarded is not None:
            guarded.guard.lock()
            self._context.show_message(tr("{name} is locked.", name=guarded.name))
