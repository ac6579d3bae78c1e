from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QKeyEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QStyleOptionViewItem,
    QToolTip,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from widgets.boxes import hbox, vbox
from widgets.bytes_text import as_plain
from widgets.cells import CellDelegate, Index
from widgets.controls import mark_wrong, named, plain_label
from widgets.drawing import draw_text
from widgets.i18n import localized, tr
from widgets.icons import icon_pixmap
from widgets.theme import Theme, px, qcolour, state_style, tabular_font, ui_font

ROW_HEIGHT = 24
SECTION_HEIGHT = 28
SPARK_WIDTH = 40
# Rows of one kind; past that the section says how many there are more.
ROWS_MAX = 300
_MIDDLE = Qt.TextElideMode.ElideMiddle
_ROW = int(Qt.ItemDataRole.UserRole) + 1
_SECTION = int(Qt.ItemDataRole.UserRole) + 2


@dataclass(frozen=True, slots=True)
class NavRow:
    id: str
    name: str
    state: str = ""
    figure: str = ""
    series: tuple[float, ...] = ()
    tip: str = ""


@dataclass(frozen=True, slots=True)
class NavSection:
    """The things of a kind that fit the filter, at most `ROWS_MAX`, and how many `more` there are.

    `none` is the sentence shown if there is none.
    """

    key: str
    title: str
    icon: str
    rows: tuple[NavRow, ...]
    none: str = ""
    more: int = 0


class _Delegate(CellDelegate):
    disabled_opacity = 1.0  # of sentences, which stand for no thing

    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        section, row, where = index.data(_SECTION), index.data(_ROW), QRectF(rect)
        style = None if row is None or not row.state else state_style(row.state)
        scale = painter.device().devicePixelRatioF()
        picture, size = None, px(14)
        if section is not None:
            size = px(16)
            picture = icon_pixmap(section.icon, theme.muted, size, scale)
        elif style is not None:
            picture = icon_pixmap(style.icon, theme.colour(style.token), size, scale)
        if picture is not None:
            painter.drawPixmap(QPointF(where.x() + 2, round(where.center().y() - size / 2)), picture)
        if section is not None:
            self._head(painter, where, section, theme)
        elif row is not None:
            self._row(painter, where, row, theme)

    def _head(self, painter: QPainter, rect: QRectF, section: NavSection, theme: Theme) -> None:
        bold = ui_font(12, ui_font().weight().DemiBold)
        used = draw_text(painter, rect.adjusted(px(24), 0, -px(40), 0), section.title, bold, theme.muted, elide=_MIDDLE)
        count = localized(f"{len(section.rows) + section.more:,}")
        draw_text(painter, rect.adjusted(px(30) + used, 0, -6, 0), count, tabular_font(12), theme.muted, elide=_MIDDLE)

    def _row(self, painter: QPainter, rect: QRectF, row: NavRow, theme: Theme) -> None:
        left, right, spark_width = float(px(22)), -6.0, px(SPARK_WIDTH)
        if not row.id:
            draw_text(painter, rect.adjusted(4, 0, right, 0), row.name, ui_font(12), theme.muted, elide=_MIDDLE)
            return
        name_width = QFontMetricsF(ui_font(13)).horizontalAdvance(row.name)
        width = QFontMetricsF(tabular_font(12)).horizontalAdvance(row.figure)
        # The curve goes first if there is no room for everything.
        if len(row.series) > 1 and rect.width() - left + right - name_width - width - 12 > spark_width:
            spark = QRectF(rect.right() - spark_width - 6, rect.y() + 5, spark_width, rect.height() - 10)
            self._spark(painter, spark, row.series, theme)
            right -= spark_width + 6
        inner = rect.adjusted(left, 0, right, 0)
        side = Qt.AlignmentFlag.AlignRight
        draw_text(painter, inner, row.figure, tabular_font(12), theme.muted, side, _MIDDLE)
        draw_text(painter, inner.adjusted(0, 0, -width - 6, 0), row.name, ui_font(13), theme.text, elide=_MIDDLE)

    @staticmethod
    def _spark(painter: QPainter, where: QRectF, series: Sequence[float], theme: Theme) -> None:
        top = max(*series, 1e-9)
        step = where.width() / (len(series) - 1)
        points = [
            QPointF(where.x() + at * step, where.bottom() - where.height() * max(0.0, value) / top)
            for at, value in enumerate(series)
        ]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(qcolour(theme.accent), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(points))

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, px(SECTION_HEIGHT if index.data(_SECTION) is not None else ROW_HEIGHT))

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        row = index.data(_ROW)
        tip = "" if row is None else "\n".join(part for part in (row.name, row.state, row.figure, row.tip) if part)
        QToolTip.showText(event.globalPos(), as_plain(tip), view)
        return True


class _Tree(QTreeWidget):
    """A tree whose Enter opens, whatever the platform takes for that."""

    entered_row = Signal(QTreeWidgetItem)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.currentItem()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and item is not None:
            self.entered_row.emit(item)
            return
        super().keyPressEvent(event)


class Navigator(QWidget):
    """Sections of rows under a filter.

    `chosen(id)` when a row becomes the current one by hand, `opened(id)` on Enter or a double click,
    `contextMenuRequested(id, global_pos)` on a right click or the menu key, `filterChanged(text)` a moment after a key.
    """

    chosen = Signal(str)
    opened = Signal(str)
    contextMenuRequested = Signal(str, QPoint)
    filterChanged = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("navigator")
        self.setMinimumWidth(150)
        self._sections: tuple[NavSection, ...] = ()
        self._heads: dict[str, QTreeWidgetItem] = {}
        self._items: dict[str, QTreeWidgetItem] = {}
        self._telling = True
        self.filter_field = QLineEdit(self, placeholderText=tr("Filter"), clearButtonEnabled=True)
        self.filter_field.setAccessibleName(tr("Filter the navigator"))
        self._delay = QTimer(self, singleShot=True, interval=120)
        self._delay.timeout.connect(lambda: self.filterChanged.emit(self.filter_field.text().strip()))
        self.filter_field.textChanged.connect(lambda _text: self._delay.start())
        self.tree = named(_Tree(self), tr("Navigator"))
        self.tree.setHeaderHidden(True)
        self.tree.setColumnCount(1)
        self.tree.setIndentation(10)
        self.tree.setRootIsDecorated(True)
        self.tree.setMouseTracking(True)
        self.tree.setItemDelegate(_Delegate(self.tree))
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.currentItemChanged.connect(self._on_current)
        self.tree.itemDoubleClicked.connect(lambda item, _column: self._open(item))
        self.tree.entered_row.connect(self._open)
        self.tree.customContextMenuRequested.connect(self._on_menu)
        self.problem = plain_label("", "problem", self, fill=True)
        title = plain_label(tr("Navigator"), "heading", self)
        self.title_row = hbox((title, 1), margins=(8, 4, 4, 0))
        holder = vbox(self.filter_field, self.problem, margins=(8, 0, 8, 0))
        vbox(self.title_row, holder, (self.tree, 1), on=self, margins=(0, 0, 0, 0), spacing=4)
        self.set_filter_problem("")

    def set_sections(self, sections: Sequence[NavSection]) -> None:
        sections = tuple(sections)
        if sections != self._sections:
            self._sections = sections
            self._telling = False
            self._show()
            self._telling = True

    def _show(self) -> None:
        filtered = bool(self.filter_field.text().strip())
        if [section.key for section in self._sections] != list(self._heads):
            self.tree.clear()
            self._items.clear()
            self._heads = {section.key: self._head(section) for section in self._sections}
        for section in self._sections:
            head = self._heads[section.key]
            shown = list(section.rows)
            if section.more:
                shown.append(NavRow("", tr("and {count} more", count=f"{section.more:,}")))
            if not shown and not filtered:
                shown = [NavRow("", section.none)] if section.none else []
            head.setData(0, _SECTION, section)
            if head.isHidden() != (hidden := filtered and not section.rows):
                head.setHidden(hidden)  # lays all rows out anew, even if nothing changes
            self._fill(head, shown)

    def _head(self, section: NavSection) -> QTreeWidgetItem:
        head = QTreeWidgetItem(self.tree, [section.title])
        head.setFlags(Qt.ItemFlag.ItemIsEnabled)
        head.setExpanded(True)
        return head

    def _fill(self, head: QTreeWidgetItem, rows: Sequence[NavRow]) -> None:
        held = [child.data(0, _ROW).id for child in _children(head)]
        wanted = [row.id for row in rows]
        if held != wanted:
            chosen = self.current_id()
            for child in head.takeChildren():
                if self._items.get(row_id := child.data(0, _ROW).id) is child:
                    del self._items[row_id]
            for row in rows:
                child = QTreeWidgetItem(head)
                child.setFlags(
                    Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable if row.id else Qt.ItemFlag.NoItemFlags
                )
                # Of rows with the same id the first is selected: a topic of dead letters has one in their section, too.
                if row.id and self._items.setdefault(row.id, child) is child and row.id == chosen:
                    self.tree.setCurrentItem(child)
        for child, row in zip(_children(head), rows, strict=True):
            if child.data(0, _ROW) != row:
                child.setData(0, _ROW, row)
                child.setText(0, " ".join(part for part in (row.name, row.state, row.figure) if part))

    def rows(self, key: str) -> list[NavRow]:
        return [child.data(0, _ROW) for child in _children(self._heads[key])]

    def current_id(self) -> str:
        item = self.tree.currentItem()
        row = None if item is None else item.data(0, _ROW)
        return "" if row is None else str(row.id)

    def select(self, item_id: str) -> None:
        """Make the row with this id the current one without telling; none if there is no such row."""
        if item_id == self.current_id():
            return
        self._telling = False
        item = self._items.get(item_id)
        if item is None:
            self.tree.setCurrentIndex(QModelIndex())
        else:
            self.tree.setCurrentItem(item)
        self._telling = True

    def _on_current(self, item: QTreeWidgetItem | None, _old: QTreeWidgetItem | None) -> None:
        row = None if item is None else item.data(0, _ROW)
        if self._telling and row is not None and row.id:
            self.chosen.emit(row.id)

    def _open(self, item: QTreeWidgetItem) -> None:
        row = item.data(0, _ROW)
        if row is not None and row.id:
            self.opened.emit(row.id)
        elif row is None:
            item.setExpanded(not item.isExpanded())

    def _on_menu(self, where: QPoint) -> None:
        item: QTreeWidgetItem | None = self.tree.itemAt(where)
        row = None if item is None else item.data(0, _ROW)
        if item is not None and row is not None and row.id:
            self.tree.setCurrentItem(item)
            self.contextMenuRequested.emit(row.id, self.tree.viewport().mapToGlobal(where))

    def set_filter_problem(self, sentence: str) -> None:
        mark_wrong(self.filter_field, sentence, tr("Words, or conditions such as lag > 100, kind = group."))
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))


def _children(head: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    found = (head.child(place) for place in range(head.childCount()))
    return [child for child in found if child is not None]
