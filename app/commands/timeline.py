from __future__ import annotations

from collections.abc import Callable
from functools import partial

from app.commands.context import CommandContext, Handlers
from app.commands.forms import form_of
from app.sessions.bookmarks import Bookmark, Bookmarks
from app.sessions.event_text import event_line
from broker_core.clock import NS_PER_S
from broker_core.engine.runner import Mode
from widgets.bookmark_field import BookmarkField
from widgets.formats import session_time, time_of
from widgets.i18n import tr

_STEPS_S = {"back_1s": -1, "forward_1s": 1, "back_10s": -10, "forward_10s": 10}


class TimelineHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self.bookmarks = Bookmarks()
        bind, travel = context.registry.bind, context.controller.travel
        for name, seconds in _STEPS_S.items():
            bind(name, partial(travel.by, seconds * NS_PER_S), self._why_nowhere)
        bind("previous_event", lambda: travel.step(-1), self._why_no_events)
        bind("next_event", lambda: travel.step(1), self._why_no_next)
        bind("first_moment", partial(travel.to, 0), self._why_nowhere)
        bind("last_moment", lambda: travel.to(self._controller.source.end_ns), self._why_nowhere)
        bind("go_to", self._ask_where, self._why_nowhere)
        bind("follow_live", travel.to_present, self._why_not_live)
        bind("branch", self.branch, self._why_no_branch)
        bind("add_bookmark", self._mark, self._why_nowhere)
        self._name = BookmarkField(context.window.timeline)
        self._name.named.connect(self._rename)
        travel.turned.connect(self._turned)
        travel.changed.connect(self._arrived)
        context.controller.opened.connect(self._opened)
        context.window.timeline.seekRequested.connect(travel.to)
        context.window.parts.rebalances.opened.connect(lambda key: travel.to(key[1]))

    # -- why not

    def _why_nowhere(self) -> str:
        if self._controller.source.scenario is None:
            return tr("No session is open.")
        return "" if self._controller.source.end_ns else tr("Nothing has happened yet.")

    def _why_no_events(self) -> str:
        unrecorded = tr("This session is not recorded: only some of its moments can be shown.")
        return self._why_nowhere() or ("" if self._controller.source.folder else unrecorded)

    def _why_no_next(self) -> str:
        present = tr("This is the present: F4 steps to the next event.")
        return self._why_no_events() or ("" if self._controller.travel.looking_back else present)

    def _why_not_live(self) -> str:
        if self._controller.stored is not None:
            return tr("This is a recorded session: it has no present. Branch here (Ctrl+B) to continue from it.")
        return "" if self._controller.travel.looking_back else tr("The present is already shown.")

    def _why_no_branch(self) -> str:
        controller = self._controller
        if controller.branching.rerunning:
            return tr("The rerun has not reached that moment yet.")
        return self._why_nowhere() or controller.source.why_no_branch()

    # -- going

    def _turned(self) -> None:
        travel = self._controller.travel
        self._context.registry.refresh()
        if not travel.looking_back:
            ended = self._controller.time.stopped
            self._context.show_message(tr("This is how the session ended.") if ended else tr("Live again."))
        elif self._controller.stored is None and not self._controller.time.stopped:
            self._context.show_message(
                tr("This is the past; the session is paused. Alt+Right goes back to the present.")
                if self._controller.source.status.mode is Mode.PAUSED
                else tr("This is the past; the session continues in the background. Alt+Right follows it again.")
            )
        if travel.looking_back and not travel.exact:
            self._context.show_message(tr("This session is not recorded: the nearest available moment is shown."))

    def _arrived(self) -> None:
        event = self._controller.travel.shown_event
        if event is not None:
            self._context.show_message(tr("Right after {event}", event=event_line(event)))

    # -- where to

    def _ask_where(self) -> None:
        marks = {mark.name.casefold(): mark.time_ns for mark in self.bookmarks.all()}
        marked = "".join(f"\n{session_time(mark.time_ns)}   {mark.name}" for mark in self.bookmarks.all()[:12])
        names = tr(", or a bookmark:") + marked if marked else "."

        def moment(text: str) -> int | None:
            found = marks.get(" ".join(text.casefold().split()))
            return found if found is not None else time_of(text)

        def why_not(text: str) -> str:
            found = moment(text)
            if found is None:
                return tr("This is neither a time, such as 00:42 or 42.5, nor the name of a bookmark.")
            end_ns = self._controller.source.end_ns
            return "" if found <= end_ns else tr("The session has reached {time} so far.", time=session_time(end_ns))

        form = form_of("go_to", {})
        dialog = form._replace(about=form.about + names).dialog(self._context.window, lambda v: why_not(v["moment"]))
        dialog.chosen.connect(lambda v: self._controller.travel.to(moment(v["moment"]) or 0))
        dialog.open()

    # -- bookmarks

    def _opened(self) -> None:
        self._name.hide()
        self.bookmarks = Bookmarks(self._controller.source.folder)
        self._show_bookmarks()
        if self.bookmarks.problem:
            self._context.show_message(self.bookmarks.problem)

    def _mark(self) -> None:
        time_ns = self._controller.snapshot.time_ns
        name = tr("Bookmark {number}", number=len(self.bookmarks.all()) + 1)
        mark = self.bookmarks.at(time_ns) or self.add_bookmark(time_ns, name)
        if mark is not None:
            self._name.edit(mark.time_ns, mark.name)

    def add_bookmark(self, time_ns: int, name: str) -> Bookmark | None:
        """Name a moment; None, with a message, if it cannot be saved."""
        added: list[Bookmark] = []
        if self._keep(lambda: added.append(self.bookmarks.add(time_ns, name))):
            told = tr("Bookmarked {time}: {name}.", time=session_time(time_ns), name=added[0].name)
            self._context.show_message(told)
        return added[0] if added else None

    def _rename(self, time_ns: int, before: str, name: str) -> None:
        mark = Bookmark(time_ns, before)
        if not name:
            if self._keep(lambda: self.bookmarks.remove(mark)):
                self._context.show_message(tr("Removed the bookmark {name}.", name=before))
        elif self._keep(lambda: self.bookmarks.rename(mark, name)):
            self._context.show_message(tr("Bookmarked {time}: {name}.", time=session_time(time_ns), name=name))

    def _keep(self, change: Callable[[], object]) -> bool:
        try:
            change()
        except (OSError, ValueError) as error:
            self._controller.failed.emit(tr("The bookmark cannot be saved: {error}", error=error))
            return False
        self._show_bookmarks()
        return True

    def _show_bookmarks(self) -> None:
        self._context.views.timeline_model.bookmarks = [(mark.time_ns, mark.name) for mark in self.bookmarks.all()]

    # -- branches

    def branch(self) -> None:
        self._context.leaving.then(self._branch)

    def _branch(self) -> None:
        moment_ns = self._controller.snapshot.time_ns
        if self._context.attempt(self._controller.branching.branch):
            self._context.show_message(tr("Rerunning it up to {time}...", time=session_time(moment_ns)))
