"""Words for people, in their language.

Every sentence that the program shows is English in the source and goes through `tr`; constants that are made before a
language is chosen are marked with `mark` and go through `tr` where they are shown. `make translations` gathers them.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

CONTEXT = "Brokerscope"


def tr(text: str, **values: object) -> str:
    """`text` in the language of the program, its {names} filled in.

    Data (names of topics, keys, payloads) comes in as a value and is never translated. A translation whose names do not
    fit is passed over for the English text: wrong words must not end the program.
    """
    shown = QCoreApplication.translate(CONTEXT, text) if text else ""
    if not values:
        return shown
    try:
        return shown.format(**values)
    except (KeyError, IndexError, ValueError):
        return text.format(**values)


def mark(text: str) -> str:
    """`text` itself: it is translated later, where it is shown."""
    return text
