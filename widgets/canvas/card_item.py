from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from widgets.canvas.box_item import STATE_ICON, FactsItem, draw_badge, draw_icon, draw_state_word
from widgets.canvas.lettering import Step, face_at, metrics, plural, rate_text, width_of, write, write_right
from widgets.canvas.view import ConsumerCard, NodeCard, ProducerCard, WorkerCard
from widgets.i18n import mark, tr
from widgets.theme import StateStyle, mix, state_style

Card = ProducerCard | ConsumerCard | WorkerCard
WORKERS_STAY = mark("Workers belong to their queue; consumers of groups can be moved.")


def _rate(card: Card) -> str:
    """The rate of a client; "" if it is idle or stopped."""
    return "" if card.state.lower() in {"idle", "stopped"} else rate_text(card.rate_per_s)


def card_note(card: Card) -> str:
    if isinstance(card, ProducerCard):
        return card.note or _rate(card)
    if not card.note and isinstance(card, ConsumerCard) and (card.partitions or card.state.lower() != "idle"):
        return plural(card.partitions, "partition")
    return card.note


class CardItem(FactsItem[Card]):
    """One card; `is_small` in crowded boxes, where only one line fits."""

    layer = 2.0
    is_small = False

    def set_small(self, is_small: bool) -> None:
        if is_small != self.is_small:
            self.is_small = is_small
            self.update()

    @staticmethod
    def seen(card: Card) -> tuple[object, ...]:
        if isinstance(card, ProducerCard):
            return card.name, card.state, card_note(card)
        return card.name, card.state, _rate(card), card.hue, card.badge, card_note(card)

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        theme, card = self.look.theme, self.facts
        style = state_style(card.state)
        colour = theme.colour(style.token)
        trouble = style.token in ("failure", "rebalancing")
        edge = mix(theme.border, colour, 0.55) if trouble else theme.border
        self.draw_frame(painter, theme.raised if theme.is_dark else theme.surface, edge)
        if self.is_small:
            self._draw_small(painter, style, trouble)
        elif self.look.step is Step.NEAR:
            self._draw_near(painter, style)
        else:
            self._draw_large(painter, style)

    def _draw_near(self, painter: QPainter, style: StateStyle) -> None:
        theme, card, look, rect = self.look.theme, self.facts, self.look, self.rect()
        left = self._draw_mark(painter, QRectF(10, 11, 24, 24), theme.colour(style.token)) + 10
        rate, right = _rate(card), rect.width() - 12
        note, room = card_note(card), right - left
        if rate and not isinstance(card, ProducerCard):
            room -= write_right(painter, right, 19, rate, look.face("small"), theme.muted, 56) + 8
        write(painter, left, 19, card.title, look.face("name"), theme.text, room)
        used = draw_state_word(painter, QPointF(left, 36.5), style, self.look, right - left)
        room = right - left - used - 4
        if width_of(note, look.face("small")) <= room:
            write_right(painter, right, 36.5, note, look.face("small"), theme.muted, room)

    def _draw_large(self, painter: QPainter, style: StateStyle) -> None:
        theme, card, look, rect = self.look.theme, self.facts, self.look, self.rect()
        size = 30 if look.step is Step.NORMAL or isinstance(card, ProducerCard) else 34
        where = QRectF(8, (rect.height() - size) / 2, size, size)
        left = self._draw_mark(painter, where, theme.colour(style.token)) + 6
        right = rect.width() - 6
        write(painter, left, 20, card.title, look.face("name"), theme.text, right - left)
        used = draw_state_word(painter, QPointF(left, 40), style, look, right - left)
        note = card.note if isinstance(card, NodeCard) else _rate(card)
        rate = "" if look.step is Step.OVERVIEW else note
        if width_of(rate, look.face("small")) + 8 <= right - left - used:
            write_right(painter, right, 40, rate, look.face("small"), theme.muted, right - left - used)

    def _draw_mark(self, painter: QPainter, where: QRectF, colour: str) -> float:
        if isinstance(self.facts, ProducerCard):
            inset = where.width() / 12
            at = where.adjusted(inset, inset, -inset, -inset)
            draw_icon(painter, self.facts.icon, colour, at.x(), at.y(), int(at.width()), self.look)
        else:
            hue = self.look.theme.owner(self.facts.hue)
            draw_badge(painter, where, hue, self.facts.badge, self.is_small, self.look)
        return where.right()

    def _draw_small(self, painter: QPainter, style: StateStyle, trouble: bool) -> None:
        rect, look, theme = self.rect(), self.look, self.look.theme
        size = 18 if look.step is Step.NEAR else 22
        colour = theme.colour(style.token)
        left = self._draw_mark(painter, QRectF(6, (rect.height() - size) / 2, size, size), colour) + 6
        icon, right = STATE_ICON[look.step], rect.width() - 7
        whole, face, small, word = False, "", "", 0.0
        for least in (look.least_units, 0):  # in a crowd, whole words come before large ones
            face, small = (face_at(name, look.step, least) for name in ("small-name", "small"))
            word = width_of(style.word, small) + icon + 4
            whole = width_of(self.facts.title, face) + word + 8 <= right - left
            if whole:
                break
        base = (rect.height() + metrics(face).capHeight()) / 2
        has_word = whole or (trouble and look.step is not Step.OVERVIEW)
        if has_word and not isinstance(self.facts, NodeCard):
            draw_state_word(painter, QPointF(right - word, base), style, look, word + 1, small)
            right -= word + 8
        else:
            draw_icon(painter, style.icon, colour, right - icon, (rect.height() - icon) / 2, icon, look)
            right -= icon + 6
        write(painter, left, base, self.facts.title, face, theme.text, right - left)

    def sentence(self) -> str:
        card = self.facts
        if isinstance(card, NodeCard):
            return ", ".join((card.title, state_style(card.state).word, card.note))
        kind = type(card).__name__.removesuffix("Card")
        more = card.turned_away if isinstance(card, ProducerCard) else card_note(card)
        parts = (f"{kind} {card.name}", state_style(card.state).word, more, _rate(card))
        return ", ".join(filter(None, parts))

    def tool_tip(self, x: float, y: float) -> str:
        stays = tr(WORKERS_STAY) if isinstance(self.facts, WorkerCard) else ""
        return "\n".join(line for line in (self.sentence(), self.facts.detail, stays) if line)
