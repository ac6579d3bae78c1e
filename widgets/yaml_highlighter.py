"""Colours for YAML: keys, texts in quotes, numbers and comments."""

from __future__ import annotations

import re

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from widgets.theme import current_theme, qcolour

# A comment begins a line or follows a blank; what is in quotes is none. What is none of these keeps its colour.
_PARTS = re.compile(
    r"""(?P<comment>(?:^|(?<=\s))\#.*)
      | (?P<key>(?:^|(?<=[\s{,\[]))[\w.-]+(?=\s*:(?:\s|$)))
      | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')
      | (?P<number>(?<![\w.-])-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.-]))
      | (?P<word>(?<![\w.-])(?:true|false|null|~)(?![\w.-]))""",
    re.VERBOSE,
)
_TOKENS = {"comment": "muted", "key": "accent", "text": "stable", "number": "rebalancing", "word": "rebalancing"}
_FOLDS = re.compile(r"(?:^|[:\s-])[|>][+-]?\d*\s*(?:#.*)?$")
_PLAIN = -1


class YamlHighlighter(QSyntaxHighlighter):
    """Follows a document. A block of text (after `|` or `>`) is text, whatever it looks like.

    The state of a line is how far the line above the block that it is in is indented; -1 for none.
    """

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        self.restyle()

    def restyle(self) -> None:
        theme = current_theme()
        for part, token in _TOKENS.items():
            looks = QTextCharFormat()
            looks.setForeground(qcolour(theme.colour(token)))
            if part == "key":
                looks.setFontWeight(QFont.Weight.DemiBold)
            self._formats[part] = looks
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        indent, block = len(text) - len(text.lstrip()), self.previousBlockState()
        if block != _PLAIN and (not text.strip() or indent > block):
            self.setFormat(0, len(text), self._formats["text"])
            self.setCurrentBlockState(block)
            return
        for found in _PARTS.finditer(text):
            part = found.lastgroup or ""
            self.setFormat(found.start(), found.end() - found.start(), self._formats[part])
        self.setCurrentBlockState(indent if _FOLDS.search(text) else _PLAIN)
