"""What is wrong with a filter."""

from __future__ import annotations

from broker_core.filters.sentence import Sentence, Translate, english


class FilterError(ValueError):
    """The filter cannot be read. `sentence` says why and what to do, `column` where, counted from 1."""

    def __init__(self, told: Sentence, column: int) -> None:
        super().__init__(told, column)
        self._told = told
        self.column = column

    @property
    def sentence(self) -> str:
        """In English, without the column."""
        return self._told.words()

    def words(self, translate: Translate = english) -> str:
        """The sentence with its column, `translate` asked for each text in it."""
        return Sentence("{sentence} (column {column})", sentence=self._told, column=self.column).words(translate)

    def __str__(self) -> str:
        """In English."""
        return self.words()
