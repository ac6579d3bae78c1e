"""How the window looks: the arrangement of the canvas, theme, type size; and all settings, those of recordings too."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.commands.context import CommandContext, Handlers, lacking
from app.commands.forms import choice, form_of
from app.commands.recordings import MIB
from app.environment.language import languages
from app.environment.paths import sessions_folder
from widgets.canvas.arranging import from_text, to_text
from widgets.canvas.layout import Shift
from widgets.dialogs.form import SettingsDialog, Values
from widgets.formats import byte_size
from widgets.i18n import tr
from widgets.theme import SCALES, scale

# Settings that are shown and kept as they are.
_KEPT = ("language", "reduced_motion", "record", "keep_spark", "recordings_most", "recordings_mib")


class AppearanceHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind, look = context.registry.bind, context.appearance
        bind("arrange", self._arrange)
        in_place = lacking(lambda: context.canvas.arrangement, tr("Every box is in its place."))
        bind("arrange_reset", self._reset_arrangement, in_place)
        context.canvas.arrangementChanged.connect(self._keep_arrangement)
        context.canvas.boxMoved.connect(self._note_move)
        context.controller.opened.connect(self._restore_arrangement)
        bind("theme", look.toggle_theme)
        at_limit = tr("The text size cannot be changed any further.")
        bind("type_larger", lambda: look.step_scale(1), lacking(lambda: scale() != SCALES[-1], at_limit))
        bind("type_smaller", lambda: look.step_scale(-1), lacking(lambda: scale() != SCALES[0], at_limit))
        bind("present", self._present)
        bind("settings", self._ask_settings)
        look.changed.connect(context.registry.refresh)

    def _arrange(self) -> None:
        on = self._context.registry.action("arrange").isChecked()
        self._context.canvas.arranging.on = on
        self._context.show_message(
            tr(
                "Drag a box to move it, or press Shift and an arrow key. Meanwhile, dragging does not move consumers "
                "between groups."
            )
            if on
            else tr("Dragging moves consumers again.")
        )

    def _reset_arrangement(self) -> None:
        before = self._context.canvas.arrangement
        self._context.canvas.set_arrangement({})
        self._note_move(before)

    def _note_move(self, before: dict[str, Shift]) -> None:
        canvas, after, scenario = self._context.canvas, self._context.canvas.arrangement, self._scenario()

        def why_not() -> str:
            return "" if self._scenario() == scenario else tr("Another scenario is open.")

        self._context.undo.push(
            tr("moved a box"), lambda: canvas.set_arrangement(before), lambda: canvas.set_arrangement(after), why_not
        )

    def _scenario(self) -> str:
        scenario = self._controller.source.scenario
        return "" if scenario is None else scenario.title

    def _keep_arrangement(self) -> None:
        settings, text = self._context.settings, to_text(self._context.canvas.arrangement)
        settings.arrangements = {**settings.arrangements, self._scenario(): text}

    def _restore_arrangement(self) -> None:
        self._context.canvas.set_arrangement(from_text(self._context.settings.arrangements.get(self._scenario(), "")))

    def _present(self) -> None:
        self._context.appearance.present()
        self._context.registry.set_checked("present", self._context.appearance.presenting)

    def _ask_settings(self) -> None:
        settings, look = self._context.settings, self._context.appearance
        counts = {count: tr("{count:,} recordings", count=count) for count in (20, 50, 100, 200, 500)}
        sizes = {
            size: tr("{size} of recordings", size=byte_size(size * MIB)) for size in (512, 1024, 5 * 1024, 20 * 1024)
        }
        given: dict[str, dict[str, Any]] = {
            "theme": {"value": look.theme},
            "scale": choice({factor: f"{factor:.0%}" for factor in SCALES}, scale()),
            **{name: {"value": getattr(settings, name)} for name in _KEPT},
        }
        given["language"]["choices"] = languages()
        given["recordings_most"]["choices"] = counts | {0: tr("Any number of recordings")}
        given["recordings_mib"]["choices"] = sizes | {0: tr("Recordings of any size")}

        def tell(values: Values) -> str:
            later = tr("The language changes the next time Brokerscope starts.")
            return later if values["language"] != given["language"]["value"] else ""

        places = [(tr("Sessions"), str(sessions_folder()))]
        dialog = SettingsDialog(form_of("settings", given).fields, tell, places, self._context.window)
        dialog.changed.connect(self._change)
        dialog.placeWanted.connect(lambda path: QDesktopServices.openUrl(QUrl.fromLocalFile(path)))
        dialog.open()

    def _change(self, name: str, value: object) -> None:
        settings, look = self._context.settings, self._context.appearance
        if name == "theme":
            look.choose_theme(str(value))
        elif name == "scale":
            look.choose_scale(float(str(value)))
        elif name == "reduced_motion":
            look.choose_motion(bool(value))
        else:
            setattr(settings, name, value)
        if name == "keep_spark":
            self._context.jobs.keep_spark(bool(value))
        elif name == "record":
            self._controller.record = bool(value)
