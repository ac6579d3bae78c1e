"""An English sentence with its values, so that a user interface can translate it."""

from __future__ import annotations

from collections.abc import Callable

Translate = Callable[..., str]


def mark(text: str) -> str:
    """`text` itself: it is translated where it is shown."""
    return text


def english(text: str, **values: object) -> str:
    """`text` with its {names} filled in."""
    return text.format(**values) if values else text


class Sentence:
    """`text` with {names} that stand for `values`; a value may be a sentence of its own."""

    def __init__(self, text: str, **values: object) -> None:
        self.text = text
        self._values = values

    def translated(self, translate: Translate = english) -> str:
        """The sentence, `translate` asked for each text in it."""
        values = {
            name: value.translated(translate) if isinstance(value, Sentence) else value
            for name, value in self._values.items()
        }
        return translate(self.text, **values)

    def __str__(self) -> str:
        """In English."""
        return self.translated()
