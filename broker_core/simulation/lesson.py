"""A lesson: what a person does and sees in a scenario, step by step. It is no part of what runs."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from broker_core.simulation.specs import Strict


class WindowNames(NamedTuple):
    """Names that a lesson may use beyond its scenario: commands and panels of the window, and other scenarios."""

    commands: frozenset[str]
    panels: frozenset[str]
    scenarios: frozenset[str]


class PointAt(Strict, frozen=True, kw_only=True):
    """Where to look or click: a command or a panel of the window by its name, or an object of the session by its id.

    An id is a kind and a name: `consumer:indexer-4`, `dlq:builds`, `lane:commits/3`; bench and timeline are `bench` and
    `timeline`.
    """

    command: str = ""
    panel: str = ""
    object: str = ""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.command, self.panel, self.object))) != 1:
            raise ValueError("point_at needs one of command, panel and object")


class Step(Strict, frozen=True, kw_only=True):
    """Something to `watch` or to `try`; `seen` says, once it is done, what was seen, and why.

    It is done when any of these has happened once: an event or a state that fits the condition `when`; one of
    `commands` (a panel that is opened is the command that shows it); something of the kind, or with the id, `select`
    was selected, as a row of a panel: `row:dead_letters`.
    """

    watch: str = ""
    try_: str = msgspec.field(default="", name="try")
    when: str = ""
    commands: tuple[str, ...] = ()
    select: str = ""
    point_at: PointAt | None = None
    seen: str = ""

    def __post_init__(self) -> None:
        if bool(self.watch) == bool(self.try_):
            raise ValueError("a step has either watch or try")
        if not (self.when or self.commands or self.select):
            raise ValueError("a step needs when, commands or select, so that it can be done")

    @property
    def text(self) -> str:
        return self.watch or self.try_


class Question(Strict, frozen=True, kw_only=True):
    text: str
    answer: str


class Lesson(Strict, frozen=True, kw_only=True):
    """The steps, in the order in which they are best taken; `next` is the scenario of the next lesson, "" for none."""

    steps: tuple[Step, ...]
    question: Question | None = None
    next: str = ""

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError("a lesson needs a step")
