from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from widgets.canvas.box_item import PILL_H, RADIUS, STATE_ICON, Facts, FactsItem, draw_icon, draw_pill, hatch
from widgets.canvas.layout import BENCH_HEADER_H, GROUP_HEADER_H, PAD
from widgets.canvas.lettering import Step, count_text, metrics, plural, short_count, width_of, write, write_right
from widgets.canvas.view import ConsumerCard, GroupBox, QueueBox
from widgets.formats import at_most, count, with_unknown
from widgets.i18n import tr
from widgets.theme import mix, qcolour, state_style

TREND_TOKENS = {"rising": "lag_up", "falling": "lag_down"}


class CardBox(FactsItem[Facts]):
    """A box that cards stand on; it says so when not all of them are shown."""

    hidden = 0

    def set_hidden(self, hidden: int) -> None:
        if hidden != self.hidden:
            self.hidden = hidden
            self.update()

    def draw_hidden(self, painter: QPainter) -> None:
        if self.hidden:
            where = self.rect()
            text = tr("+{count} more", count=count_text(self.hidden))
            x, y = where.width() - PAD, where.height() - PAD - 10
            write_right(painter, x, y, text, self.look.face("small"), self.muted, 130)

    @property
    def muted(self) -> str:
        return self.look.theme.muted

    def draw_title(self, painter: QPainter, icon: str, name: str, note: str, right: float) -> None:
        """Icon, name and a note that ends at `right`; from afar the name comes before icon and note."""
        look, left = self.look, PAD
        if look.step is Step.NEAR:
            draw_icon(painter, icon, self.muted, PAD, 8, 18, look)
            left += 24
        face = look.face("small")
        if width_of(note, face) + 12 + width_of(name, look.face("title")) <= right - left:
            right -= write_right(painter, right, 23, note, face, self.muted, 200) + 8
        write(
            painter, left, 23 if look.step is Step.NEAR else 25, name, look.face("title"), look.theme.text, right - left
        )

    def draw_empty(self, painter: QPainter, text: str, top: float) -> None:
        if self.look.step is Step.NEAR:
            write(painter, PAD, top, text, self.look.face("small"), self.muted, self.rect().width() - 2 * PAD)


class GroupItem(CardBox[GroupBox]):
    @staticmethod
    def seen(group: GroupBox) -> tuple[object, ...]:
        """What the whole box is drawn from, and what its header is."""
        lag = group.lag, group.unknown, group.is_at_most, group.trend
        return (group.state, bool(group.members)), (group.name, group.generation, lag, len(group.members))

    def repaint(self, before: tuple[object, ...], now: tuple[object, ...]) -> None:
        (whole_before, _), (whole, _) = before, now
        if whole != whole_before:
            self.update()
        else:
            self.update(0, 0, self.rect().width(), GROUP_HEADER_H)

    @property
    def is_rebalancing(self) -> bool:
        return state_style(self.facts.state).token == "rebalancing"

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        theme, group, rect = self.look.theme, self.facts, self.rect()
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
        if exposed.top() >= GROUP_HEADER_H and group.members:
            self.draw_hidden(painter)
            return
        self._draw_header(painter)
        if not group.members:
            words = tr("No consumer reads. Drop one here.") if group.takes_members else tr("No consumer reads.")
            self.draw_empty(painter, words, GROUP_HEADER_H + 19)
        self.draw_hidden(painter)

    def _draw_header(self, painter: QPainter) -> None:
        theme, group, look = self.look.theme, self.facts, self.look
        right, small = self.rect().width() - PAD, self.look.face("small")
        near = look.step is Step.NEAR
        note = tr("generation {generation:,}", generation=group.generation) if near and group.generation >= 0 else ""
        self.draw_title(painter, "group", group.name, note, right)
        ground = theme.surface if self.is_rebalancing else ""
        style = state_style(group.state)
        pill_top = 32 if near else 31
        pill = draw_pill(painter, PAD, pill_top, style, look, right - PAD, ground)
        token = TREND_TOKENS.get(group.trend, "muted") if group.lag else "muted"
        icon = STATE_ICON[look.step] if token != "muted" else 0
        room = right - PAD - pill - 10 - icon
        lag = next((text for text in lag_texts(group, near) if width_of(text, small) <= room), "")
        if not lag:
            return
        middle = pill_top + PILL_H[look.step] / 2
        if icon:
            trend = state_style(group.trend).icon
            draw_icon(painter, trend, theme.colour(token), right - icon, middle - icon / 2, icon, look)
            right -= icon + 2
        base = middle + metrics(small).capHeight() / 2
        write_right(painter, right, base, lag, small, theme.colour(token), room)

    def sentence(self) -> str:
        group = self.facts
        lag = (
            tr("lag n/a")
            if group.lag is None
            else tr(
                "lag {lag} {trend}",
                lag=at_most(count(group.lag), group.is_at_most),
                trend=state_style(group.trend).word.lower(),
            )
        )
        return tr(
            "Group {name}, {state}, generation {generation}, {members}, {lag}",
            name=group.name,
            state=state_style(group.state).word,
            generation=group.generation if group.generation >= 0 else tr("not known"),
            members=plural(len(group.members), "consumer"),
            lag=with_unknown(lag, group.unknown),
        )

    def tool_tip(self, x: float, y: float) -> str:
        return f"{self.sentence()}\n{self.facts.detail}".strip()


def lag_texts(group: GroupBox, near: bool) -> tuple[str, ...]:
    """The lag in words, from the longest to the shortest; "+ ?" stands for what is not known."""
    lag, unknown = group.lag, group.unknown
    short = "n/a" if lag is None else at_most(short_count(lag), group.is_at_most)
    whole = short if lag is None or not near else at_most(count_text(lag), group.is_at_most)
    words = tr("lag n/a") if lag is None else tr("lag {count}", count=whole)
    return (with_unknown(words, unknown), f"{words} + ?", f"{short} + ?") if unknown else (words, short)


def idle_text(count: int) -> str:
    return tr("{count} idle", count=count) if count else tr("empty")


class BenchItem(CardBox[tuple[ConsumerCard, ...]]):
    @staticmethod
    def seen(bench: tuple[ConsumerCard, ...]) -> tuple[object, ...]:
        return (len(bench),)

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        theme, rect = self.look.theme, self.rect()
        self.draw_frame(painter, theme.window, theme.border_strong, 1, dashed=True)
        self.draw_title(painter, "bench", tr("Bench"), idle_text(len(self.facts)), rect.width() - PAD)
        if not self.facts:
            self.draw_empty(painter, tr("Drop a consumer here to take it out of its group."), BENCH_HEADER_H + 16)
        self.draw_hidden(painter)

    def sentence(self) -> str:
        return tr("Bench, {members}", members=plural(len(self.facts), "idle consumer"))

    def tool_tip(self, x: float, y: float) -> str:
        return tr("{sentence}\nConsumers on the bench belong to no group and read nothing.", sentence=self.sentence())


class WorkersItem(CardBox[QueueBox]):
    @staticmethod
    def seen(queue: QueueBox) -> tuple[object, ...]:
        return len(queue.workers), queue.taken_by

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        theme, queue = self.look.theme, self.facts
        fill = theme.window if theme.is_dark else theme.sunken
        self.draw_frame(painter, fill, mix(theme.border, theme.border_strong, 0.4))
        whose = tr("of {queue_name}", queue_name=queue.name)
        self.draw_title(painter, "worker", tr("Workers"), whose, self.rect().width() - PAD)
        if queue.taken_by and not queue.workers:
            names = ", ".join(queue.taken_by)
            words, face = tr("{names} also reads from here", names=names), self.look.face("small")
            room = self.rect().width() - 2 * PAD
            if width_of(words, face) > room:
                words = names
            write(painter, PAD, BENCH_HEADER_H + 16, words, face, self.muted, room)
        elif not queue.workers:
            self.draw_empty(painter, tr("No workers read from this queue."), BENCH_HEADER_H + 16)
        self.draw_hidden(painter)

    def sentence(self) -> str:
        queue = self.facts
        return tr("Workers of {queue}, {members}", queue=queue.name, members=plural(len(queue.workers), "worker"))
