from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialogButtonBox, QFormLayout, QWidget

from widgets.boxes import vbox
from widgets.dialogs.dialog import Dialog
from widgets.facts import plain_label
from widgets.formats import byte_size
from widgets.i18n import tr


class SettingsDialog(Dialog):
    """`changed(name, value)` for theme, scale, language (strings), reduced_motion, record and keep_spark (bools),
    recordings_most and recordings_mib (numbers; 0 for no limit)."""

    changed = Signal(str, object)

    def __init__(
        self,
        values: Mapping[str, object],
        *,
        themes: Sequence[tuple[str, str]],
        scales: Sequence[float],
        languages: Mapping[str, str],
        places: Sequence[tuple[str, str]],
        parent: QWidget | None = None,
    ) -> None:
        """`values` are the present ones; `themes` (name, words); `places` (what, path) are shown only."""
        super().__init__(tr("Settings"), parent)
        self.setMinimumWidth(460)
        form = QFormLayout(horizontalSpacing=16, verticalSpacing=10)
        self.theme = self._choice("theme", themes, values)
        self.scale = self._choice("scale", [(factor, f"{factor:.0%}") for factor in scales], values)
        self.language = self._choice("language", [("system", tr("Same as the system")), *languages.items()], values)
        self.reduced_motion = self._switch("reduced_motion", tr("Reduced motion: no sliding, no moving dots"), values)
        self.record = self._switch("record", tr("Record each session from its beginning"), values)
        form.addRow(tr("Theme"), self.theme)
        form.addRow(tr("Text size"), self.scale)
        form.addRow(tr("Language"), self.language)
        form.addRow("", self.reduced_motion)
        self.keep_spark = self._switch("keep_spark", tr("Keep Spark ready for the next report (about 1 GB)"), values)
        self.recordings_most = self._choice(
            "recordings_most",
            [(count, tr("{count:,} recordings", count=count)) for count in (20, 50, 100, 200, 500)]
            + [(0, tr("Any number of recordings"))],
            values,
        )
        self.recordings_mib = self._choice(
            "recordings_mib",
            [(size, tr("{size} of recordings", size=byte_size(size << 20))) for size in (512, 1024, 5120, 20480)]
            + [(0, tr("Recordings of any size"))],
            values,
        )
        for box in (self.recordings_most, self.recordings_mib):
            box.setToolTip(
                tr("Beyond that, the oldest are removed, but never one that was named, bookmarked, opened or used.")
            )
        form.addRow("", self.record)
        form.addRow(tr("Keep at most"), self.recordings_most)
        form.addRow(tr("and at most"), self.recordings_mib)
        form.addRow("", self.keep_spark)
        self.note = plain_label("", "muted", self, fill=True)
        form.addRow("", self.note)
        for what, path in places:
            form.addRow(what, plain_label(path, "muted", self, fill=True, selectable=True))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        vbox(form, buttons, on=self, margins=(20, 16, 20, 16), spacing=16)
        self.language.currentIndexChanged.connect(
            lambda _place: self.note.setText(tr("The language changes the next time Brokerscope starts."))
        )

    def _choice(self, name: str, options: Sequence[tuple[object, str]], values: Mapping[str, object]) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(name)
        for value, words in options:
            box.addItem(words, value)
        box.setCurrentIndex(max(0, box.findData(values.get(name))))
        box.currentIndexChanged.connect(lambda _place: self.changed.emit(name, box.currentData()))
        return box

    def _switch(self, name: str, words: str, values: Mapping[str, object]) -> QCheckBox:
        box = QCheckBox(words, self)
        box.setChecked(bool(values.get(name)))
        box.toggled.connect(lambda on: self.changed.emit(name, on))
        return box
