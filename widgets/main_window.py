"""The window: toolbar, canvas between two sides, panels, timeline and status bar, composed of the parts it is given.

The canvas has the room: both sides, the panels and the timeline fold to strips, and come back as they were. A panel
takes room of the canvas alone, so lesson and inspector stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QByteArray, QPoint, QRect, QSettings, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QSplitter, QWidget

from widgets.boxes import vbox
from widgets.cards import RebalancesPanel
from widgets.centre import Centre
from widgets.hint_bar import HintBar
from widgets.i18n import tr
from widgets.navigator import Navigator
from widgets.next_step import NextStep
from widgets.overlays import FrameTint, Ring
from widgets.panel_tabs import PanelTabs
from widgets.panels.inspector import InspectorPanel
from widgets.panels.lesson import LessonPanel
from widgets.panels.panel import Panel
from widgets.sides import RightSide, SideDock
from widgets.status_bar import StatusBar
from widgets.theme import follow_theme, px
from widgets.timeline import Timeline
from widgets.toolbar import Toolbar
from widgets.window_layout import LEAST_SIZE, WindowLayout

LAYOUT_VERSION = 3
# The first time, the navigator is folded below this width: the canvas needs the room more.
NAVIGATOR_FROM_WIDTH = 1500
# In pixels of the design: in a window that is lower, type is so large that a panel needs the room of the timeline.
TIMELINE_FROM_HEIGHT = 500
NAVIGATOR_WIDTH, RIGHT_WIDTH = 236, 300


# A line, a command, or a menu within a menu: its title and what it holds.
Entry = QAction | None | tuple[str, Sequence[QAction | None]]


@dataclass(frozen=True)
class Parts:
    """The parts of the window: those beside the canvas, then the panels below it in order."""

    canvas: QWidget
    navigator: Navigator
    lesson: LessonPanel
    inspector: InspectorPanel
    rebalances: RebalancesPanel
    panels: Sequence[Panel]


P = TypeVar("P", bound=Panel)


class MainWindow(QMainWindow):
    """The composed window. `menus` holds (title, actions); None among the actions is a line.

    With `settings`, size and layout are restored when it is made and saved when it closes.
    """

    closing = Signal()
    tabShown = Signal(str)
    togglesChanged = Signal(object)
    """`toggle_states()`, after any of them may have changed."""

    def __init__(
        self,
        parts: Parts,
        actions: Mapping[str, QAction],
        menus: Sequence[tuple[str, Sequence[Entry]]] = (),
        settings: QSettings | None = None,
    ) -> None:
        super().__init__()
        self.setObjectName("workbench")
        self.setWindowTitle("Brokerscope")
        self.setMinimumSize(*LEAST_SIZE)
        self.parts = parts
        #: Asked before the window closes; False keeps it open.
        self.may_close: Callable[[], bool] = lambda: True
        self._settings = settings
        self.toolbar = Toolbar(actions, self)
        self.addToolBar(self.toolbar)
        self.status = StatusBar(self)
        self.setStatusBar(self.status)
        self.timeline = Timeline(self)
        self.timeline.foldWanted.connect(self.open_timeline)
        self._named = {panel.info.name: panel for panel in parts.panels}
        for panel in (*parts.panels, parts.inspector):
            panel.put_commands(actions)
        self.tabs = PanelTabs(parts.panels, self)
        self.tabs.show_panel(WindowLayout().tab)
        self.tabs.currentChanged.connect(lambda _name: self._on_tab())
        self.tabs.openWanted.connect(self.open_bottom)
        self.tabs.maximiseWanted.connect(self.maximise)
        self.tabs.besideWanted.connect(self.put_beside)
        self._focused = self._maximised = self._shown_once = self._short = False
        self._kept: WindowLayout | None = None
        self._compose()
        self.set_menus(menus)
        self.resize(1280, 800)
        self.restore()
        parts.canvas.setFocus()
        follow_theme(self._follow_type)

    def _compose(self) -> None:
        self.right = RightSide(self.parts.lesson, self.parts.inspector, self.parts.rebalances)
        self.right.setMinimumWidth(240)
        navigator, inspector = self.parts.navigator, self.parts.inspector
        self.left_dock = SideDock(tr("Navigator"), navigator, navigator.title_row, left=True, width=NAVIGATOR_WIDTH)
        self.right_dock = SideDock(tr("Inspector"), self.right, inspector.title_row, left=False, width=RIGHT_WIDTH)
        self.left_dock.foldWanted.connect(self.open_left)
        self.right_dock.foldWanted.connect(self.open_right)
        self.centre = Centre(self.parts.canvas, self.tabs.area)
        self.next_step = NextStep(self)
        self.next_step.lessonWanted.connect(self.show_lesson)
        self.right.arranged.connect(self._show_next_step)
        middle, self.top = QWidget(self), QSplitter(Qt.Orientation.Horizontal)
        for part in (self.left_dock, middle, self.right_dock):
            self.top.addWidget(part)
        self.top.setStretchFactor(1, 1)
        self.top.setChildrenCollapsible(False)
        self.top.splitterMoved.connect(lambda _at, _place: self._note_sizes())
        content = QWidget(self)
        self.hint = HintBar(content)
        self.hint.answered.connect(self.parts.canvas.setFocus)
        for holder, stacked in (
            (middle, (self.next_step, self.centre)),
            (content, (self.hint, self.top, self.tabs, self.timeline)),
        ):
            column = vbox(on=holder, margins=(0, 0, 0, 0), spacing=0)
            for widget in stacked:
                column.addWidget(widget, 1 if widget in (self.centre, self.top) else 0)
        self.setCentralWidget(content)
        self.tint = FrameTint(self, content)
        self.ring = Ring(self)
        self.tabs.set_open(False)

    def set_menus(self, menus: Sequence[tuple[str, Sequence[Entry]]]) -> None:
        bar = self.menuBar()
        bar.clear()
        taken: set[str] = set()
        for title, entries in menus:
            menu = bar.addMenu(_with_mnemonic(title, taken))
            menu.setToolTipsVisible(True)
            fill_menu(menu, entries)

    def show_tab(self, name: str) -> None:
        """Bring a panel to the front with the focus, opened where it is folded; KeyError if unknown."""
        panel = self._named[name]
        self.open_bottom(True)
        self.tabs.show_panel(name)
        panel.focus_body()

    def _on_tab(self) -> None:
        """Qt hands the focus of a page that goes to any button of the next one: Space would press it."""
        # It comes as well while the window is being destroyed, when nothing may be asked of the window itself.
        focus, panel = QApplication.focusWidget(), self._named.get(self.shown_tab())
        if focus is not None and panel is not None and panel.isAncestorOf(focus):
            panel.focus_body()
        self.tabShown.emit(self.shown_tab())

    def shown_tab(self) -> str:
        return self.tabs.current

    def panel(self, name: str) -> Panel:
        return self._named[name]

    def tab(self, kind: type[P]) -> P:
        found = self._named[kind.info.name]
        assert isinstance(found, kind)
        return found

    def set_tab_count(self, name: str, number: int) -> None:
        """A count behind the title of a tab, 0 for none: so that a hidden panel says that it has something."""
        self.tabs.set_count(name, number)

    def place_of_tab(self, name: str) -> QRect:
        """Where the tab of a panel is, in the window; KeyError if unknown, empty while the tabs are hidden."""
        tab = self.tabs.place(name)
        return QRect(tab.mapTo(self, QPoint(0, 0)), tab.size()) if tab.isVisible() else QRect()

    def place_of_action(self, action: QAction) -> QRect:
        """Where an action can be clicked, in the window: its button in the toolbar, else its menu in the menu bar."""
        button = self.toolbar.button(action)
        if button is not None and button.isVisible():
            return QRect(button.mapTo(self, QPoint(0, 0)), button.size())
        bar = self.menuBar()
        holding = next((one for one in bar.actions() if _holds(one, action)), None)
        if holding is None:
            return QRect()
        where = bar.actionGeometry(holding)
        return QRect(bar.mapTo(self, where.topLeft()), where.size())

    def focus_filter(self) -> bool:
        """Put the cursor into the filter of the panel in front, opened where it is folded; False if it has none."""
        panel = self._named[self.shown_tab()]
        if not panel.info.filter_hint:
            return False
        if not self.shows_panels:
            self.open_bottom(True)
        panel.focus_filter()
        return True

    @property
    def shows_panels(self) -> bool:
        return self.tabs.is_open and not self.tabs.isHidden()

    @contextmanager
    def _rearranging(self, *, keeps_maximised: bool = False) -> Iterator[None]:
        """Ends the focus on the canvas and the maximised panels first; afterwards all parts take their room."""
        if self._focused:
            self.focus_canvas(False)
        if not keeps_maximised:
            self._give_back_the_height()
        yield
        self._settle()

    def open_left(self, on: bool) -> None:
        with self._rearranging():
            self.left_dock.set_open(on)

    def open_right(self, on: bool) -> None:
        with self._rearranging():
            self.right_dock.set_open(on)

    def open_bottom(self, on: bool) -> None:
        with self._rearranging(keeps_maximised=on):
            self.tabs.set_open(on)

    def put_beside(self, on: bool) -> None:
        with self._rearranging():
            self.centre.set_beside(on)
            self.tabs.set_beside(on)
            self.tabs.set_open(True)

    def show_lesson(self) -> None:
        self.open_right(True)
        self.parts.lesson.set_folded(False)
        self.right.bring(self.parts.lesson, by_hand=True)

    def _show_next_step(self) -> None:
        lesson = self.parts.lesson
        has_lesson = self.right.has_lesson and (self._focused or not self.right_dock.is_open or lesson.is_title_alone)
        self.next_step.set_facts(lesson.facts if has_lesson else None)

    def open_timeline(self, on: bool) -> None:
        with self._rearranging(keeps_maximised=True):
            self.timeline.set_open(on)

    def focus_canvas(self, on: bool) -> None:
        self._give_back_the_height()
        self._focused = on
        for part in (self.left_dock, self.right_dock, self.tabs, self.status):
            part.setVisible(not on)
        if on:
            self.parts.canvas.setFocus()
        self._settle()

    def maximise(self, on: bool) -> None:
        with self._rearranging(keeps_maximised=True):
            self._maximised = on
            self.tabs.set_maximised(on)
            if on:
                self.tabs.set_open(True)

    def _give_back_the_height(self) -> None:
        if self._maximised:
            self.maximise(False)

    def _note_sizes(self) -> None:
        for dock in (self.left_dock, self.right_dock):
            dock.note_width()

    def _settle(self) -> None:
        left, right = (0 if dock.isHidden() else dock.room for dock in (self.left_dock, self.right_dock))
        self.top.setSizes([left, max(1, self.top.width() - left - right), right])
        self.centre.set_shown(self.shows_panels, maximised=self._maximised)
        self._show_next_step()
        focus = QApplication.focusWidget()
        if focus is not None and self.isAncestorOf(focus) and not focus.isVisibleTo(self):
            self.parts.canvas.setFocus()
        self.togglesChanged.emit(self.toggle_states())

    def toggle_states(self) -> dict[str, bool]:
        """Which parts are open, and whether focus and maximise are on, by the id of the command for it."""
        return {
            "toggle_left": self.left_dock.is_open,
            "toggle_right": self.right_dock.is_open,
            "toggle_bottom": self.tabs.is_open,
            "toggle_timeline": self.timeline.is_open,
            "focus": self._focused,
            "maximise": self._maximised,
            "beside": self.centre.is_beside,
        }

    def present_layout(self) -> WindowLayout:
        """The current layout, and the sizes of folded parts."""
        whole, below = max(1, self.top.width()), round(self.centre.share, 4)
        left, right = (round(dock.open_width / whole, 4) for dock in (self.left_dock, self.right_dock))
        return WindowLayout(
            left=self.left_dock.is_open,
            right_side=self.right_dock.is_open,
            bottom=self.tabs.is_open,
            timeline=self.timeline.is_open,
            tab=self.shown_tab(),
            top=(left, max(0.0, 1 - left - right), right),
            right=self.right.shares,
            whole=(1 - below, below),
            beside=self.centre.is_beside,
        )

    def set_layout(self, layout: WindowLayout) -> None:
        with self._rearranging():
            for dock, on, share, width in (
                (self.left_dock, layout.left, layout.top[0], NAVIGATOR_WIDTH),
                (self.right_dock, layout.right_side, layout.top[2], RIGHT_WIDTH),
            ):
                dock.set_open_width(round(self.top.width() * share) or px(width))
                dock.set_open(on)
            self.centre.set_beside(layout.beside)
            self.tabs.set_beside(layout.beside)
            self.centre.set_share(layout.whole[1])
            self.tabs.set_open(layout.bottom)
            self.timeline.set_open(layout.timeline)
            if layout.tab in self._named:
                self.tabs.show_panel(layout.tab)
            self.right.set_shares(layout.right)
            self._kept = layout

    def save(self) -> None:
        if self._settings is None:
            return
        store = self._settings
        self._give_back_the_height()
        store.setValue("window/version", LAYOUT_VERSION)
        store.setValue("window/geometry", self.saveGeometry())
        if self._shown_once:
            store.setValue("window/layout", self.present_layout().to_text())
        store.sync()

    def restore(self) -> bool:
        """Take size and layout from the settings; False if there are none that fit."""
        store = self._settings
        if store is None or str(store.value("window/version", "")) != str(LAYOUT_VERSION):
            return False
        geometry = store.value("window/geometry")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)
        self._kept = WindowLayout.from_text(str(store.value("window/layout", "")))
        return self._kept is not None

    def showEvent(self, event: QShowEvent) -> None:
        """The first time, what was kept; else the navigator if there is room for it, and no panel."""
        super().showEvent(event)
        if self._shown_once:
            return
        self._shown_once = True
        if self._kept is not None:
            self.set_layout(self._kept)
        else:
            self.open_left(self.width() >= NAVIGATOR_FROM_WIDTH)
            self._fold_timeline()

    def _follow_type(self) -> None:
        if self._shown_once:
            self._fold_timeline()
            self._settle()

    def _fold_timeline(self) -> None:
        short = self.height() < px(TIMELINE_FROM_HEIGHT)
        if short is not self._short:
            self._short = short
            self.timeline.set_open(not short)
            self._settle()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.may_close():
            event.ignore()
            return
        self.save()
        self.closing.emit()
        super().closeEvent(event)


def _holds(entry: QAction, action: QAction) -> bool:
    menu = entry.menu()
    if not isinstance(menu, QMenu):
        return entry is action
    return any(_holds(inner, action) for inner in menu.actions())


def _with_mnemonic(title: str, taken: set[str]) -> str:
    """`title` with the first letter marked that no menu beside it opens with: Alt and it open this one."""
    place = next((at for at, letter in enumerate(title) if letter.isalnum() and letter.lower() not in taken), None)
    if place is None:
        return title
    taken.add(title[place].lower())
    return f"{title[:place]}&{title[place:]}"


def fill_menu(menu: QMenu, entries: Sequence[Entry]) -> None:
    """Actions into a menu; None is a line, and lines do not double; (title, actions) is a menu within it."""
    for entry in entries:
        if isinstance(entry, tuple):
            inner = menu.addMenu(entry[0])
            inner.setToolTipsVisible(True)
            fill_menu(inner, entry[1])
        elif entry is not None:
            menu.addAction(entry)
        elif menu.actions() and not menu.actions()[-1].isSeparator():
            menu.addSeparator()
