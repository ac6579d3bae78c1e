from __future__ import annotations

import math
import re
from itertools import chain
from typing import Any

from app.sessions.session_controller import SessionController
from broker_core.clock import s_from_ns
from broker_core.engine.runner import Mode
from broker_core.simulation.lesson import Step
from widgets.i18n import tr

# So long before something is due the schedule begins to wait for who is at a step, and waits at most so long.
HOLD_AHEAD_S, HOLD_MOST_S = 5.0, 60.0


class LessonCourse:
    """How the lesson of one session goes: which steps can no longer be done, and how long the schedule waits."""

    def __init__(self, controller: SessionController) -> None:
        self._controller = controller
        self._names: set[str] = set()  # of all that this session has had
        self._waited_for: set[Step | None] = set()  # each once
        self.held_at_s = self._late_s = 0.0  # since when the schedule waits; how much later it is for that

    def why_cannot(self, step: Step) -> str:
        """Why a step can no longer be done: what it waits for is gone, or the session has ended; "" if it still can."""
        at = self._controller.snapshot
        things: Any = chain(at.actors, at.groups, at.topics, at.queues)
        now = {each.name for each in things}
        self._names |= now
        named = re.findall(r"[\w.-]+", f"{step.when} {step.point_at.object if step.point_at else ''}")
        for gone in (name for name in named if name in self._names - now):
            return tr("This can no longer be done: {name} is not there any more.", name=gone)
        ended = step.when and not (step.commands or step.select) and self._controller.why_not()
        return tr("This can no longer be done: the session has ended.") if ended else ""

    def hold(self) -> bool | None:
        """Whether the schedule waits from now on, None if that stays as it is.

        What is scheduled waits a while for a reader who is at a step, and comes on time for who runs on or fast.
        """
        controller = self._controller
        now_s, scenario = s_from_ns(controller.source.end_ns), controller.source.scenario
        assert scenario is not None
        at = controller.collectors.lesson.current_step
        hurries = controller.time.fast or controller.source.status.mode is Mode.EXPRESS
        waits = at is not None and bool(at.try_) and not hurries
        due = (each.at_s + self._late_s for each in scenario.schedule if not each.after_events)
        soon = next((at_s for at_s in sorted(due) if at_s > now_s), math.inf) - now_s < HOLD_AHEAD_S
        if self.held_at_s == 0 and waits and soon and controller.time.moving and at not in self._waited_for:
            self.held_at_s = now_s
            self._waited_for.add(at)
            return True
        if self.held_at_s > 0 and (not waits or now_s > self.held_at_s + HOLD_MOST_S):
            self._late_s += max(0.0, now_s - self.held_at_s)
            self.held_at_s = 0.0
            return False
        return None
