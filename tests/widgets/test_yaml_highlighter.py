"""YAML in colours."""

from PySide6.QtGui import QTextDocument

from widgets.dialogs.scenario_editor import YamlHighlighter
from widgets.theme import current_theme, qcolour

TEXT = """\
title: "a: # b"  # said
about: >
  key: 5 is no key # here

until_s: 60
static: true
topics: [{name: x-1, partitions: 3}]
"""


def test_keys_texts_numbers_and_comments_have_their_colours_and_a_block_of_text_is_text(qapp):
    document = QTextDocument(TEXT)
    highlighter = YamlHighlighter(document)
    theme = current_theme()

    def coloured(line, token):
        block = document.findBlockByNumber(line)
        wanted = qcolour(theme.colour(token))
        return [
            block.text()[part.start : part.start + part.length]
            for part in block.layout().formats()
            if part.format.foreground().color() == wanted
        ]

    assert coloured(0, "accent") == ["title"]
    assert coloured(0, "stable") == ['"a: # b"'] and coloured(0, "muted") == ["# said"]
    assert coloured(2, "stable") == ["  key: 5 is no key # here"] and coloured(2, "accent") == []
    assert coloured(4, "accent") == ["until_s"] and coloured(4, "rebalancing") == ["60"]
    assert coloured(5, "rebalancing") == ["true"]
    assert coloured(6, "accent") == ["topics", "name", "partitions"] and coloured(6, "rebalancing") == ["3"]
    highlighter._restyle()
    assert coloured(4, "rebalancing") == ["60"]
