"""Words for people, in their language.

Every sentence that the program shows is English in the source and goes through `tr`; constants that are made before a
language is chosen are marked with `mark` and go through `tr` where they are shown. `make translations` gathers them.
"""

from __future__ import annotations

import re
from string import Formatter
from typing import Any

from PySide6.QtCore import QCoreApplication

CONTEXT = "Brokerscope"
_GROUPED = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")
_COMMA_FOR_POINT = str.maketrans(",.", ".,")


class _Numbers(Formatter):
    """Formats with a decimal comma."""

    def format_field(self, value: Any, format_spec: str) -> str:
        shown: str = super().format_field(value, format_spec)
        return (
            shown.translate(_COMMA_FOR_POINT) if isinstance(value, (int, float)) or _GROUPED.fullmatch(shown) else shown
        )


_NUMBERS = _Numbers()


def _has_decimal_comma() -> bool:
    return QCoreApplication.translate(CONTEXT, "en") == "de"


def localized(shown: str) -> str:
    """A number as English writes it, with the separators of the program's language."""
    return shown.translate(_COMMA_FOR_POINT) if _has_decimal_comma() else shown


def tr(text: str, **values: object) -> str:
    """`text` in the language of the program, its {names} filled in.

    Data (names of topics, keys, payloads) comes in as a value and is never translated. A translation whose names do not
    fit is passed over for the English text: wrong words must not end the program.
    """
    shown = QCoreApplication.translate(CONTEXT, text) if text else ""
    if not values:
        return shown
    try:
        return _NUMBERS.vformat(shown, (), values) if _has_decimal_comma() else shown.format(**values)
    except (KeyError, IndexError, ValueError):
        return text.format(**values)


def mark(text: str) -> str:
    """`text` itself: it is translated later, where it is shown."""
    return text
