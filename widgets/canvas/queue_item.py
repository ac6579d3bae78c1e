from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from widgets.canvas.box_item import STATE_ICON, FactsItem, draw_icon, draw_place_header, pen
from widgets.canvas.layout import DEAD_LETTERS_H, LABEL_X, QUEUE_H, TOPIC_W
from widgets.canvas.lettering import (
    Step,
    count_text,
    metrics,
    plural,
    rate_text,
    short_count,
    width_of,
    write,
    write_centred,
    write_right,
)
from widgets.canvas.view import LeaseRing, QueueBox
from widgets.i18n import mark, tr
from widgets.theme import mix

MAX_RINGS = 12
RING_STEPS = 50  # one of them begins where a lease counts as expiring
RING_SIZE, RING_PITCH, RINGS_Y, RINGS_BASE_Y = 18.0, 24.0, 92.0, 106.0
SOURCE_GAP = 10.0  # between the words behind the rings and what the queue reads
HEADER_H, FIGURES_H = 36.0, 50.0
EXPIRING_SHARE = 0.2
FIGURE_PITCH, FIGURE_W, FIGURE_NAME_Y = 112.0, 108.0, 52.0
# The base line of the figures at each step of the zoom.
FIGURE_Y = {Step.OVERVIEW: 80, Step.NORMAL: 77, Step.NEAR: 73}
RINGS_LEGEND = mark("The arc is the time left; the number is the attempt, from the second on.")


class QueueItem(FactsItem[QueueBox]):
    @staticmethod
    def seen(queue: QueueBox) -> tuple[object, ...]:
        """The drawn state of the header, the figures and the rings; a ring moves in `RING_STEPS` steps."""
        rings = tuple(
            (ring.key, int(ring.left * RING_STEPS), ring.hue, ring.attempt) for ring in queue.leases[:MAX_RINGS]
        )
        header = (queue.name, rate_text(queue.rate_per_s), queue.gate)
        return header, (queue.ready, queue.delayed, queue.in_flight), (*rings, queue.in_flight, queue.reads)

    def repaint(self, before: tuple[object, ...], now: tuple[object, ...]) -> None:
        rows = ((0.0, HEADER_H), (HEADER_H, FIGURES_H), (HEADER_H + FIGURES_H, QUEUE_H - HEADER_H - FIGURES_H))
        for old, new, (top, height) in zip(before, now, rows, strict=True):
            if old != new:
                self.update(0, top, TOPIC_W, height)

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        theme, queue, look = self.look.theme, self.facts, self.look
        self.draw_frame(painter, theme.surface, theme.border)
        if exposed.top() < HEADER_H:
            draw_place_header(painter, look, "queue", queue.name, queue.rate_per_s, queue.gate)
        if exposed.bottom() > HEADER_H and exposed.top() < HEADER_H + FIGURES_H:
            near = look.step is Step.NEAR
            for at, (word, count) in enumerate(queue_figures(queue)):
                x, text = LABEL_X + at * FIGURE_PITCH, count_text(count) if near else short_count(count)
                write(painter, x, FIGURE_NAME_Y, word, look.face("small"), theme.muted, FIGURE_W)
                write(painter, x, FIGURE_Y[look.step], text, look.face("figure"), theme.text, FIGURE_W)
        if exposed.bottom() > RINGS_Y - 4:
            self._draw_rings(painter)

    def _draw_rings(self, painter: QPainter) -> None:
        theme, queue = self.look.theme, self.facts
        shown, face = queue.leases[:MAX_RINGS], self.look.face("small")
        for at, ring in enumerate(shown):
            self._draw_ring(painter, LABEL_X + at * RING_PITCH, ring)
        x, right = LABEL_X + len(shown) * RING_PITCH, TOPIC_W - LABEL_X
        words, reads = rings_words(queue), reads_text(queue.reads) if queue.reads else ""
        if words:
            write(painter, x, RINGS_BASE_Y, words, face, theme.muted, TOPIC_W - x - 4)
        elif 0 < len(shown) <= 6 and self.look.step is Step.NEAR and not reads:
            note = tr("time left on each lease")
            write_right(painter, right, RINGS_BASE_Y - 1, note, self.look.face("tiny"), theme.muted, right - 4 - x)
        if reads and x + width_of(words, face) + SOURCE_GAP + width_of(reads, face) <= right:
            write_right(painter, right, RINGS_BASE_Y, reads, face, theme.muted, TOPIC_W)

    def _draw_ring(self, painter: QPainter, x: float, ring: LeaseRing) -> None:
        theme = self.look.theme
        where = QRectF(x + 1.5, RINGS_Y + 1.5, RING_SIZE - 3, RING_SIZE - 3)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(theme.lane, 3))
        painter.drawEllipse(where)
        left = min(1.0, max(0.0, ring.left))
        colour = theme.failure if left < EXPIRING_SHARE else theme.owner(ring.hue)
        painter.setPen(QPen(pen(colour, 3)))
        painter.drawArc(where, 90 * 16, round(left * 360 * 16))
        if ring.attempt > 1 and self.look.step is not Step.OVERVIEW:
            write_centred(painter, where, short_count(ring.attempt), self.look.face("tiny"), theme.text)

    def sentence(self) -> str:
        queue = self.facts
        counts = tr(
            "{ready:,} ready, {delayed:,} delayed, {in_flight:,} in flight",
            ready=queue.ready,
            delayed=queue.delayed,
            in_flight=queue.in_flight,
        )
        return tr(
            "Queue {name}, {counts}, {dead}", name=queue.name, counts=counts, dead=plural(queue.dead, "dead letter")
        )

    def tool_tip(self, x: float, y: float) -> str:
        at = int((x - LABEL_X) // RING_PITCH)
        if RINGS_Y <= y <= RINGS_Y + RING_SIZE and 0 <= at < min(MAX_RINGS, len(self.facts.leases)):
            ring = self.facts.leases[at]
            holder = tr(" held by {holder}", holder=ring.holder) if ring.holder else ""
            said = tr(
                "Message {key}{holder}, attempt {attempt}, {left:.0%} of the lease left",
                key=ring.key,
                holder=holder,
                attempt=ring.attempt,
                left=ring.left,
            )
            return f"{said}\n{tr(RINGS_LEGEND)}"
        reads = reads_text(self.facts.reads) if self.facts.reads else ""
        return "\n".join(line for line in (self.sentence(), reads, self.facts.detail) if line)


def rings_words(queue: QueueBox) -> str:
    """What stands behind the rings: how many more are in flight; or that nothing is, instead of rings."""
    shown = len(queue.leases[:MAX_RINGS])
    if not shown:
        return "" if queue.in_flight else tr("Nothing in flight.")
    more = queue.in_flight - shown
    return f"+{short_count(more)}" if more > 0 else ""


def reads_text(topic: str) -> str:
    return tr("reads {names}", names=topic)


def queue_figures(queue: QueueBox) -> tuple[tuple[str, int], ...]:
    return (tr("Ready"), queue.ready), (tr("Delayed"), queue.delayed), (tr("In flight"), queue.in_flight)


class DeadLettersItem(FactsItem[QueueBox]):
    @staticmethod
    def seen(queue: QueueBox) -> tuple[object, ...]:
        return (queue.dead,)

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        look, theme, dead = self.look, self.look.theme, self.facts.dead
        colour = theme.failure if dead else theme.muted
        fill = theme.failure_soft if dead else theme.surface
        self.draw_frame(painter, fill, mix(theme.border, colour, 0.5) if dead else theme.border)
        size = STATE_ICON[look.step] + 4
        draw_icon(painter, "dead-letter", colour, 12, (DEAD_LETTERS_H - size) / 2, size, look)
        name, body = look.face("name"), look.face("body")
        base = (DEAD_LETTERS_H + metrics(name).capHeight()) / 2
        count = count_text(dead) if look.step is Step.NEAR else short_count(dead)
        right = self.rect().width() - LABEL_X
        used = write_right(painter, right, base, count, name, colour, 100)
        left = 20 + size
        room = right - left - 12 - used
        whose = tr("Dead letters of {queue_name}", queue_name=self.facts.name)
        words = whose if width_of(whose, body) <= room else tr("Dead letters")
        write(painter, left, base, words, body, colour, room)

    def sentence(self) -> str:
        return tr("{dead} of {queue}", dead=plural(self.facts.dead, "dead letter"), queue=self.facts.name)
