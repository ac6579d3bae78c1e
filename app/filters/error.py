"""What is wrong with a filter."""

from __future__ import annotations

from widgets.words import tr


class FilterError(ValueError):
    """The filter cannot be read. `sentence` says why and what to do, `column` where, counted from 1."""

    def __init__(self, sentence: str, column: int) -> None:
        super().__init__(tr("{sentence} (column {column})", sentence=sentence, column=column))
        self.sentence = sentence
        self.column = column
