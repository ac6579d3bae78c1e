"""The language of the program: that of the settings, else that of the system, else English."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

import resources

FOLDER = Path(resources.__file__).parent / "translations"
ENGLISH = "en"
SYSTEM = "system"


def languages() -> dict[str, str]:
    """Code -> name in that language, English first."""
    codes = [path.stem.rpartition("_")[2] for path in sorted(FOLDER.glob("brokerscope_*.qm"))]
    return {ENGLISH: "English", **{code: QLocale(code).nativeLanguageName().capitalize() for code in codes}}


def chosen_language(setting: str) -> str:
    """The code that a setting ("system", "en", "de") stands for here; English if there is no such translation."""
    code = QLocale.system().name().partition("_")[0] if setting == SYSTEM else setting
    return code if code in languages() else ENGLISH


def install_language(app: QApplication, setting: str) -> str:
    """Make `app` speak from now on what `setting` stands for; the code of the language.

    What is on the screen already keeps its words, so it is done before a window is made.
    """
    code = chosen_language(setting)
    for translator in app.findChildren(QTranslator):
        app.removeTranslator(translator)
        translator.deleteLater()
    if code != ENGLISH:
        folders = {"brokerscope": str(FOLDER), "qtbase": QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)}
        for name, folder in folders.items():
            translator = QTranslator(app)
            if translator.load(f"{name}_{code}", folder):
                app.installTranslator(translator)
    return code
