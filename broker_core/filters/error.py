from __future__ import annotations

from collections.abc import Callable

Translate = Callable[..., str]


def mark(text: str) -> str:
    """`text` itself: it is translated where it is shown."""
    return text


def english(text: str, **values: object) -> str:
    return text.format(**values) if values else text


class Sentence:
    """`text` with {names} that stand for `values`; a value may be a sentence of its own."""

    def __init__(self, text: str, **values: object) -> None:
        self.text = text
        self._values = values

    def translated(self, translate: Translate = english) -> str:
        values = {
            name: value.translated(translate) if isinstance(value, Sentence) else value
            for name, value in self._values.items()
        }
        return translate(self.text, **values)

    def __str__(self) -> str:
        return self.translated()


class FilterError(ValueError):
    """The filter cannot be read. `sentence` says why and what to do, `column` where, counted from 1."""

    def __init__(self, sentence: Sentence, column: int) -> None:
        super().__init__(sentence, column)
        self._sentence = sentence
        self.column = column

    @property
    def sentence(self) -> str:
        return self._sentence.translated()

    def translated(self, translate: Translate = english) -> str:
        """The sentence with its column, `translate` asked for each text in it."""
        whole = Sentence("{sentence} (column {column})", sentence=self._sentence, column=self.column)
        return whole.translated(translate)

    def __str__(self) -> str:
        return self.translated()
