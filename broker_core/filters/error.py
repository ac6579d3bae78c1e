"""What is wrong with a filter."""

from __future__ import annotations

from broker_core.filters.sentence import Sentence, Translate, english


class FilterError(ValueError):
    """The filter cannot be read. `sentence` says why and what to do, `column` where, counted from 1."""

    def __init__(self, sentence: Sentence, column: int) -> None:
        super().__init__(sentence, column)
        self._sentence = sentence
        self.column = column

    @property
    def sentence(self) -> str:
        """In English, without the column."""
        return self._sentence.translated()

    def translated(self, translate: Translate = english) -> str:
        """The sentence with its column, `translate` asked for each text in it."""
        whole = Sentence("{sentence} (column {column})", sentence=self._sentence, column=self.column)
        return whole.translated(translate)

    def __str__(self) -> str:
        """In English."""
        return self.translated()
