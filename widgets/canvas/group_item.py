"""The boxes that hold cards: a consumer group, the bench, and a queue's workers."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from widgets.canvas.box_item import RADIUS, BoxItem, Look, draw_icon, draw_pill, hatch
from widgets.canvas.layout import BENCH_HEADER_H, GROUP_HEADER_H, PAD
from widgets.canvas.lettering import count_text, plural, short_count, write, write_right
from widgets.canvas.view import BENCH_ID, ConsumerCard, GroupBox, QueueBox
from widgets.i18n import tr
from widgets.theme import mix, qcolour, state_style

TREND_TOKENS = {"rising": "lag_up", "falling": "lag_down"}


class CardBox(BoxItem):
    """A box that cards stand on; it says so when not all of them are shown."""

    def __init__(self, item_id: str, look: Look) -> None:
        super().__init__(item_id, look)
        self.hidden = 0

    def set_hidden(self, hidden: int) -> None:
        """How many cards found no room."""
        if hidden != self.hidden:
            self.hidden = hidden
            self.update()

    def draw_hidden(self, painter: QPainter) -> None:
        """The count of cards that found no room, at the foot."""
        if self.hidden:
            where = self.rect()
            text = tr("+{count} more", count=count_text(self.hidden))
            write_right(painter, where.width() - PAD, where.height() - PAD - 10, text, "small", self.muted, 100)

    @property
    def muted(self) -> str:
        return self.look.theme.muted

    def draw_far_title(self, painter: QPainter, name: str) -> None:
        """The name from afar, kept off the cards."""
        self.draw_far_name(painter, name, self.look.theme.text)


class GroupItem(CardBox):
    """A consumer group: its state as colour, icon and word, its generation and its lag."""

    def __init__(self, group: GroupBox, look: Look) -> None:
        super().__init__(group.id, look)
        self.group_box = group
        self._shown = self._visible(group)

    def set_group(self, group: GroupBox) -> None:
        """Show other data; repaints only if something that is drawn has changed."""
        self.group_box = group
        shown = self._visible(group)
        if shown != self._shown:
            state_changed = shown[1] != self._shown[1] or bool(shown[5]) != bool(self._shown[5])
            self._shown = shown
            if state_changed or self.look.is_far:
                self.update()
            else:
                self.update(0, 0, self.rect().width(), GROUP_HEADER_H)

    @staticmethod
    def _visible(group: GroupBox) -> tuple[object, ...]:
        return group.name, group.state, group.generation, group.lag, group.trend, len(group.members)

    @property
    def is_rebalancing(self) -> bool:
        return state_style(self.group_box.state).token == "rebalancing"

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        """Frame in the colour of the state, header, and an amber band during a rebalance."""
        theme, group, rect = self.look.theme, self.group_box, self.rect()
        style = state_style(group.state)
        colour = theme.colour(style.token)
        edge = theme.border_strong if style.token in ("stable", "idle") else colour
        self.draw_frame(painter, theme.window if theme.is_dark else theme.sunken, edge, 2 if self.is_rebalancing else 1)
        if self.is_rebalancing and not self.highlight:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(qcolour(theme.rebalancing_soft))
            painter.drawRoundedRect(rect.adjusted(2, 2, -2, -2), RADIUS - 2, RADIUS - 2)
            painter.setBrush(hatch(theme.rebalancing, 36))
            painter.drawRoundedRect(rect.adjusted(2, GROUP_HEADER_H - 6, -2, -2), RADIUS - 2, RADIUS - 2)
        if self.look.is_far:
            painter.fillRect(QRectF(12, 42, rect.width() - 24, 6), qcolour(colour))
            self.draw_far_title(painter, group.name)
            return
        if exposed.top() >= GROUP_HEADER_H and group.members:
            self.draw_hidden(painter)
            return
        self._draw_header(painter)
        if not group.members:
            text = tr("No consumer reads. Drop one here.")
            write(painter, PAD, GROUP_HEADER_H + 19, text, "small", theme.muted, rect.width() - 2 * PAD)
        self.draw_hidden(painter)

    def _draw_header(self, painter: QPainter) -> None:
        theme, group = self.look.theme, self.group_box
        right = self.rect().width() - PAD
        draw_icon(painter, "group", theme.muted, PAD, 8, 18, self.look)
        text = tr("generation {generation:,}", generation=group.generation)
        used = write_right(painter, right, 22, text, "small", theme.muted, 110)
        write(painter, PAD + 24, 22, group.name, "title", theme.text, right - used - 8 - PAD - 24)
        ground = theme.surface if self.is_rebalancing else ""
        pill = draw_pill(painter, PAD, 32, state_style(group.state), self.look, right - PAD, ground)
        room = right - PAD - pill - 8
        token = TREND_TOKENS.get(group.trend, "muted") if group.lag else "muted"
        lag = tr("lag n/a") if group.lag is None else tr("lag {count}", count=count_text(group.lag))
        if room < 74:
            lag = "n/a" if group.lag is None else short_count(group.lag)
        if token != "muted":
            draw_icon(painter, state_style(group.trend).icon, theme.colour(token), right - 13, 35, 14, self.look)
            right -= 16
        write_right(painter, right, 46, lag, "small", theme.colour(token), room - 16)

    def sentence(self) -> str:
        """As in "Group indexers, Stable, generation 7, 3 consumers, lag 120 rising"."""
        group = self.group_box
        lag = (
            tr("lag n/a")
            if group.lag is None
            else tr("lag {lag:,} {trend}", lag=group.lag, trend=state_style(group.trend).word.lower())
        )
        state = state_style(group.state).word
        members = plural(len(group.members), "consumer")
        return tr(
            "Group {name}, {state}, generation {generation}, {members}, {lag}",
            name=group.name,
            state=state,
            generation=group.generation,
            members=members,
            lag=lag,
        )

    def tool_tip(self, x: float, y: float) -> str:
        """The header, unabridged."""
        return f"{self.sentence()}\n{self.group_box.detail}".strip()


class BenchItem(CardBox):
    """Where consumers sit that belong to no group."""

    def __init__(self, bench: tuple[ConsumerCard, ...], look: Look) -> None:
        super().__init__(BENCH_ID, look)
        self.count = len(bench)

    def set_bench(self, bench: tuple[ConsumerCard, ...]) -> None:
        """Show another count."""
        if len(bench) != self.count:
            self.count = len(bench)
            self.update()

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        """A dashed box with its title."""
        theme, rect = self.look.theme, self.rect()
        self.draw_frame(painter, theme.window, theme.border_strong, 1, dashed=True)
        if self.look.is_far:
            self.draw_far_title(painter, tr("Bench"))
            return
        draw_icon(painter, "bench", theme.muted, PAD, 9, 18, self.look)
        right = rect.width() - PAD
        used = write_right(painter, right, 23, self._count_text(), "small", theme.muted, 90)
        write(painter, PAD + 24, 23, tr("Bench"), "title", theme.text, right - used - PAD - 32)
        if not self.count:
            text = tr("Drop a consumer here to rest it.")
            write(painter, PAD, BENCH_HEADER_H + 16, text, "small", theme.muted, rect.width() - 2 * PAD)
        self.draw_hidden(painter)

    def _count_text(self) -> str:
        return tr("{count} idle", count=self.count) if self.count else tr("empty")

    def sentence(self) -> str:
        """As in "Bench, 1 idle consumer"."""
        return tr("Bench, {members}", members=plural(self.count, "idle consumer"))

    def tool_tip(self, x: float, y: float) -> str:
        """What the bench is for."""
        return tr("{sentence}\nConsumers on the bench belong to no group and read nothing.", sentence=self.sentence())


class WorkersItem(CardBox):
    """The workers of one queue."""

    def __init__(self, queue: QueueBox, look: Look) -> None:
        super().__init__(queue.workers_id, look)
        self.queue_name, self.count = queue.name, len(queue.workers)

    def set_queue(self, queue: QueueBox) -> None:
        """Show another count."""
        if len(queue.workers) != self.count:
            self.count = len(queue.workers)
            self.update()

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        """A quiet box with its title."""
        theme, rect = self.look.theme, self.rect()
        fill = theme.window if theme.is_dark else theme.sunken
        self.draw_frame(painter, fill, mix(theme.border, theme.border_strong, 0.4))
        if self.look.is_far:
            self.draw_far_title(painter, tr("Workers"))
            return
        draw_icon(painter, "worker", theme.muted, PAD, 9, 18, self.look)
        right = rect.width() - PAD
        used = write_right(
            painter, right, 23, tr("of {queue_name}", queue_name=self.queue_name), "small", theme.muted, 100
        )
        write(painter, PAD + 24, 23, tr("Workers"), "title", theme.text, right - used - PAD - 32)
        if not self.count:
            text = tr("No workers take from this queue.")
            write(painter, PAD, BENCH_HEADER_H + 16, text, "small", theme.muted, rect.width() - 2 * PAD)
        self.draw_hidden(painter)

    def sentence(self) -> str:
        """As in "Workers of builds, 3 workers"."""
        return tr("Workers of {queue}, {members}", queue=self.queue_name, members=plural(self.count, "worker"))

    def tool_tip(self, x: float, y: float) -> str:
        """The title, unabridged."""
        return self.sentence()
