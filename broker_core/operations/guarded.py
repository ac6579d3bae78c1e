"""Redrives of dead-letter topics, and offsets of groups, as plans: first made and looked at, then carried out."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from broker_core.errors import BrokerError, ErrorCode
from broker_core.guarded.offsets import OffsetsPlan
from broker_core.guarded.redrive import DEFAULT_RATE, Choice, Rate, RedrivePlan, RedriveRun
from broker_core.operations.entry import ADMIN, READ, WRITE, Entry, Right, declaring
from broker_core.operations.fields import Name, Offset, Partition
from broker_core.operations.groups import NewOffsets
from broker_core.operations.request import Input, Request
from broker_core.settings import about


class LetterPlace(Input, frozen=True, kw_only=True):
    """Of a letter in a dead-letter topic."""

    partition: Partition
    offset: Offset


ENTRIES: list[Entry] = []
_redrive = declaring(ENTRIES, tag="Dead letters")
_redrive_plan = declaring(ENTRIES, tag="Dead letters", mode="slow", errors=(409,))
_offsets_plan = declaring(ENTRIES, tag="Groups", mode="slow", errors=(409,))
_LETTERS, _GROUP = Right(ADMIN, "topic or queue", "topic"), Right(ADMIN, "group", "group")


@_redrive_plan(
    "POST /v1/topics/{topic}/redrive/plan",
    "Show what a redrive of a program's dead-letter topic would do",
    rights=(_LETTERS, Right(READ, "broker")),
    repeatable=True,
)
class PlanTopicRedrive(Request[RedrivePlan], frozen=True, kw_only=True):
    """Which letters of a program's dead-letter `topic` go back: those at `places`, or all that pass the filter `where`.

    They go where their headers say that they come from, or to the topic `to`; with `again` also those that have come
    back after a redrive. A Kafka cluster does it in transactions unless `transactional` is false.
    """

    topic: Name
    where: Annotated[str, Meta(max_length=1_000), about("a filter, such as header contains timeout")] = ""
    places: Annotated[tuple[LetterPlace, ...], Meta(max_length=10_000)] = ()
    to: Annotated[Name | None, about("send them to this topic instead of their origin")] = None
    again: Annotated[bool, about("also those that came back after a redrive")] = False
    rate_per_s: Annotated[Rate, about("redrive at most this many per second", flag="--rate")] = DEFAULT_RATE
    transactional: bool = True

    @property
    def choice(self) -> Choice:
        return Choice(
            topic=self.topic,
            where=self.where,
            places=tuple((each.partition, each.offset) for each in self.places),
            to=self.to or "",
            again=self.again,
        )


@_redrive_plan(
    "POST /v1/topics/{topic}/redrive",
    "Redrive a program's dead letters as planned; the letters stay, and are remembered as redriven",
    rights=(_LETTERS, Right(WRITE, "topic", "targets")),
    saved="offsets",
    body="plan",
)
class RedriveTopic(Request[RedriveRun], frozen=True, kw_only=True):
    """Carry out a `plan`, unless something has changed since it was made. It runs on after the response."""

    topic: Name
    plan: RedrivePlan

    @property
    def targets(self) -> list[str]:
        return [target.topic for target in self.plan.targets]


@_redrive(
    "GET /v1/topics/{topic}/redrive",
    "Show how far the last redrive of a dead-letter topic is",
    rights=(Right(READ, "topic or queue", "topic"),),
)
class TopicRedriveProgress(Request[RedriveRun], frozen=True, kw_only=True):
    topic: Name


@_redrive(
    "DELETE /v1/topics/{topic}/redrive",
    "Stop the redrive of a dead-letter topic; a later one goes on where it was",
    rights=(_LETTERS,),
    repeatable=True,
)
class StopTopicRedrive(Request[RedriveRun], frozen=True, kw_only=True):
    topic: Name


@_offsets_plan(
    "POST /v1/groups/{group}/offsets/plan",
    "Show what new offsets of a group would mean, or what undoes its last reset",
    rights=(_GROUP, Right(READ, "group", "from_group")),
    renamed=(("from_group", "group"),),
    repeatable=True,
)
class PlanOffsets(NewOffsets, Request[OffsetsPlan], frozen=True, kw_only=True):
    """New offsets of a group, as of `ResetOffsets`. With the form undo, those from before its last reset."""


@_offsets_plan(
    "PUT /v1/groups/{group}/offsets",
    "Set the offsets of an empty group as planned",
    rights=(_GROUP,),
    saved="offsets",
    body="plan",
)
class SetOffsets(Request[OffsetsPlan], frozen=True, kw_only=True):
    """Carry out a `plan`, unless something has changed since it was made."""

    group: Name
    plan: OffsetsPlan


def check_plan_is_for(asked: str, planned: str) -> None:
    """Raises INVALID_REQUEST if the plan is of something else than what is asked for."""
    if asked != planned:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"the plan is of {planned}, and not of {asked}")
