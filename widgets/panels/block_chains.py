from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from widgets.boxes import hbox, vbox
from widgets.facts import LinkButton, plain_label, set_plain_tip
from widgets.i18n import tr

CHAINS_MAX = 5
ARROW = "\u2190"


@dataclass(frozen=True, slots=True)
class ChainLink:
    words: str
    target: str


@dataclass(frozen=True, slots=True)
class BlockChain:
    """From a waiting client to what it waits for, and since when, in words."""

    links: tuple[ChainLink, ...]
    since: str

    def sentence(self) -> str:
        return f" {ARROW} ".join(link.words for link in self.links) + f" ({self.since})"


class BlockChains(QWidget):
    """A line for each; `followed(id)` on a click on a link."""

    followed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = vbox(on=self, margins=(12, 2, 12, 6), spacing=2)
        self._lines: list[_Line] = []
        self.chains: tuple[BlockChain, ...] = ()
        self.hide()

    def set_chains(self, chains: Sequence[BlockChain]) -> None:
        """Show these, at most `CHAINS_MAX`. Lines are used again, so that a click on one is never lost."""
        shown = tuple(chains[:CHAINS_MAX])
        if shown == self.chains:
            return
        self.chains = shown
        while len(self._lines) < len(shown):
            line = _Line(self)
            line.followed.connect(self.followed)
            self._column.addWidget(line)
            self._lines.append(line)
        for place, line in enumerate(self._lines):
            line.setVisible(place < len(shown))
            if place < len(shown):
                line.set_chain(shown[place])
        self.setVisible(bool(shown))

    def buttons(self) -> list[LinkButton]:
        return [button for line in self._lines[: len(self.chains)] for button in line.buttons()]


class _Line(QWidget):
    followed = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._row = hbox(on=self, margins=(0, 0, 0, 0), spacing=6)
        self._links: list[tuple[QLabel, LinkButton]] = []
        self._shown = 0
        self._since = plain_label("", "muted", self)
        self._since.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._row.addWidget(self._since, 1)

    def buttons(self) -> list[LinkButton]:
        return [button for _, button in self._links[: self._shown]]

    def set_chain(self, chain: BlockChain) -> None:
        while len(self._links) < len(chain.links):
            arrow, button = plain_label(ARROW, "muted", self), LinkButton(self)
            button.followed.connect(self.followed)
            for widget in (arrow, button):
                self._row.insertWidget(self._row.count() - 1, widget)
            self._links.append((arrow, button))
        self._shown = len(chain.links)
        for place, (arrow, button) in enumerate(self._links):
            arrow.setVisible(0 < place < self._shown)
            button.setVisible(place < self._shown)
            if place < self._shown:
                link = chain.links[place]
                button.set_link(link.words, link.target, f"{link.words}\n{tr('Shows it on the canvas.')}")
        self._since.setText(f"({chain.since})")
        set_plain_tip(self._since, chain.sentence())  # of which a narrow panel shows the beginning
        self.setAccessibleName(chain.sentence())
