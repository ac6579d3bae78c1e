"""Who is blocked by what: producer, its topic's limit, the slowest reader of that, and who reads there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from widgets.facts import LinkButton, plain_label
from widgets.words import tr

CHAINS_MAX = 5
ARROW = "\u2190"


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One thing in the chain: its words, and the id on the canvas that it leads to."""

    words: str
    target: str


@dataclass(frozen=True, slots=True)
class BlockChain:
    """From who waits to what it waits for, and since when, in words."""

    links: tuple[ChainLink, ...]
    since: str

    def sentence(self) -> str:
        """All of it in a line."""
        return f" {ARROW} ".join(link.words for link in self.links) + f" ({self.since})"


class BlockChains(QWidget):
    """A line for each; `followed(id)` on a click on a link."""

    followed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 2, 12, 6)
        self._column.setSpacing(2)
        self._lines: list[_Line] = []
        self._chains: tuple[BlockChain, ...] = ()
        self.hide()

    def chains(self) -> tuple[BlockChain, ...]:
        """What is shown."""
        return self._chains

    def set_chains(self, chains: Sequence[BlockChain]) -> None:
        """Show these, at most `CHAINS_MAX`."""
        shown = tuple(chains[:CHAINS_MAX])
        same = [each.links for each in shown] == [each.links for each in self._chains]
        self._chains = shown
        self.setVisible(bool(shown))
        if not same:
            self._rebuild()
        for line, chain in zip(self._lines, shown, strict=True):
            line.since.setText(f"({chain.since})")
            line.setAccessibleName(chain.sentence())

    def _rebuild(self) -> None:
        while self._lines:
            self._lines.pop().deleteLater()
        for chain in self._chains:
            line = _Line(chain, self)
            for button in line.buttons:
                button.followed.connect(self.followed)
            self._column.addWidget(line)
            self._lines.append(line)

    def buttons(self) -> list[LinkButton]:
        """Every link, line by line."""
        return [button for line in self._lines for button in line.buttons]


class _Line(QWidget):
    def __init__(self, chain: BlockChain, parent: QWidget) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        self.buttons: list[LinkButton] = []
        for place, link in enumerate(chain.links):
            if place:
                row.addWidget(plain_label(ARROW, "muted", self))
            button = LinkButton(self)
            button.set_link(link.words, link.target, tr("Shows it on the canvas."))
            self.buttons.append(button)
            row.addWidget(button)
        self.since = plain_label("", "muted", self)
        row.addWidget(self.since)
        row.addStretch(1)
