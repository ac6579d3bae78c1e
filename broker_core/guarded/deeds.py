"""The record of what was done to an observed cluster: who, when, the plan and its result."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from broker_core.guarded.offsets import OffsetsPlan
from broker_core.guarded.redrive import RedrivePlan, RedriveRun

Plan = RedrivePlan | OffsetsPlan
Outcome = Literal["begun", "done", "stopped", "failed", "refused"]


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """Written down before anything is sent, as `begun`, and again with its outcome. `at_ms` is Unix time."""

    at_ms: int
    who: str
    plan: Plan
    outcome: Outcome
    run: RedriveRun | None = None
    error: str = ""

    @property
    def sentence(self) -> str:
        what = f"{self.who}: {self.plan.sentence}"
        if self.outcome == "begun":
            return f"{what}: begun"
        count = "" if self.run is None else f", {self.run.done} of {self.plan.letters}"  # type: ignore[union-attr]
        return f"{what}: {self.outcome}{count}{f' ({self.error})' if self.error else ''}"

    def detail(self) -> dict[str, Any]:
        """The `detail` of the event that reports this deed."""
        return {"deed": msgspec.to_builtins(self, str_keys=True)}


def deed_of(detail: dict[str, Any] | None) -> Deed | None:
    """None for an event that is about something else."""
    found = (detail or {}).get("deed")
    return None if found is None else msgspec.convert(found, Deed, strict=False)


def outcome_of(run: RedriveRun) -> Outcome:
    return "failed" if run.error else "stopped" if run.stopped else "done"
