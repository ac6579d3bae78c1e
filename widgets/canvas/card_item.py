"""A card: a producer, a consumer in a group or on the bench, or a queue's worker."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from widgets.canvas.box_item import BoxItem, Look, draw_badge, draw_icon, draw_state_word, pen
from widgets.canvas.lettering import plural, rate_text, write, write_centred, write_right
from widgets.canvas.view import ConsumerCard, ProducerCard, WorkerCard
from widgets.i18n import mark, tr
from widgets.theme import ink_on, mix, qcolour, state_style

Card = ProducerCard | ConsumerCard | WorkerCard
WORKERS_STAY = mark("Workers belong to their queue; consumers of groups can be moved.")


class CardItem(BoxItem):
    """One card; `is_small` in crowded boxes, where only badge, name and state icon fit."""

    def __init__(self, card: Card, look: Look) -> None:
        super().__init__(card.id, look, z=2.0)
        self.card = card
        self.is_small = False
        self._shown = self._visible(card)

    def set_card(self, card: Card, is_small: bool) -> None:
        """Show other data; repaints only if something that is drawn has changed."""
        self.card = card
        shown = self._visible(card)
        if shown != self._shown or is_small != self.is_small:
            self._shown = shown
            self.is_small = is_small
            self.update()

    @staticmethod
    def _visible(card: Card) -> tuple[object, ...]:
        if isinstance(card, ProducerCard):
            return card.name, card.state, card.note or rate_text(card.rate_per_s)
        note = card.note
        if not note and isinstance(card, ConsumerCard) and (card.partitions or card.state.lower() != "idle"):
            note = plural(card.partitions, "partition")
        return card.name, card.state, rate_text(card.rate_per_s), card.hue, card.badge, note

    @property
    def note(self) -> str:
        """The right end of the second line."""
        return str(self._shown[5]) if len(self._shown) > 5 else ""

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        """Two lines: name and rate, state and note."""
        theme, card, rect = self.look.theme, self.card, self.rect()
        style = state_style(card.state)
        colour = theme.colour(style.token)
        trouble = style.token in ("failure", "rebalancing")
        edge = mix(theme.border, colour, 0.55) if trouble else theme.border
        self.draw_frame(painter, theme.raised if theme.is_dark else theme.surface, edge)
        if self.look.is_far:
            self._draw_far(painter, colour)
            return
        if self.is_small:
            self._draw_small(painter, style.icon, colour)
            return
        left = self._draw_mark(painter, QRectF(10, 11, 24, 24), colour) + 10
        rate, right = rate_text(card.rate_per_s), rect.width() - 12
        note, room = self.note, right - left
        if isinstance(card, ProducerCard):
            note = str(self._shown[2])
        elif style.word != "Idle":
            room -= write_right(painter, right, 19, rate, "small", theme.muted, 56) + 8
        write(painter, left, 19, card.name, "name", theme.text, room)
        used = draw_state_word(painter, QPointF(left, 36.5), style, self.look, right - left)
        write_right(painter, right, 36.5, note, "small", theme.muted, right - left - used - 8)

    def _draw_mark(self, painter: QPainter, where: QRectF, colour: str) -> float:
        if isinstance(self.card, ProducerCard):
            draw_icon(painter, "producer", colour, where.x() + 2, where.y() + 2, 20, self.look)
        else:
            hue = self.look.theme.owner(self.card.hue)
            draw_badge(painter, where, hue, self.card.badge, where.height() < 20)
        return where.right()

    def _draw_small(self, painter: QPainter, state_icon: str, colour: str) -> None:
        rect = self.rect()
        left = self._draw_mark(painter, QRectF(7, 6, 18, 18), colour) + 7
        room = rect.width() - left - 28
        write(painter, left, 19.5, self.card.name, "small-name", self.look.theme.text, room)
        draw_icon(painter, state_icon, colour, rect.width() - 22, 8, 14, self.look)

    def _draw_far(self, painter: QPainter, colour: str) -> None:
        """The owner's hue, the name as large as it fits, and the state as a bar."""
        rect, theme = self.rect(), self.look.theme
        left = 10.0
        painter.setPen(Qt.PenStyle.NoPen)
        if not isinstance(self.card, ProducerCard):
            hue, where = theme.owner(self.card.hue), QRectF(6, 6, rect.height() - 12, rect.height() - 12)
            painter.setBrush(qcolour(hue))
            painter.drawRoundedRect(where, 4, 4)
            if not self.is_small:
                write_centred(painter, where, self.card.badge, "far-name", ink_on(hue))
            left = rect.height() + 2
        base = rect.height() / 2 + 7
        write(painter, left, base, self.card.name, "far-name", theme.text, rect.width() - left - 18)
        painter.setPen(pen(colour, 5))
        painter.drawLine(QPointF(rect.width() - 8, 8), QPointF(rect.width() - 8, rect.height() - 8))

    def sentence(self) -> str:
        """As in "Consumer indexer-1, Running, 2 partitions, 12/s"."""
        kind = type(self.card).__name__.removesuffix("Card")
        parts = [f"{kind} {self.card.name}", state_style(self.card.state).word]
        if self.note:
            parts.append(self.note)
        if isinstance(self.card, ProducerCard) and self.card.turned_away:
            parts.append(self.card.turned_away)
        return ", ".join([*parts, rate_text(self.card.rate_per_s)])

    def tool_tip(self, x: float, y: float) -> str:
        """What the card says, unabridged."""
        stays = tr(WORKERS_STAY) if isinstance(self.card, WorkerCard) else ""
        return "\n".join(line for line in (self.sentence(), self.card.detail, stays) if line)
