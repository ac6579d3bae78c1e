"""The advice of a finding, followed in its scenario: `make diagnosis` runs it again, and it must do less harm."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

from spark_reports.findings.finding import Finding
from tests.diagnosis.scenarios import Case, Spec

_READERS = ("consumers", "workers", "share_groups")


def follow(case: Case, finding: Finding) -> Case | None:
    """The case with the advice followed; None if nobody knows how."""
    flow = next((name for name in case.flows if re.search(rf"\b{name}\b", finding.headline)), next(iter(case.flows)))
    made = copy.deepcopy(case.scenario)
    does = _HOW.get(finding.kind)
    if does is None:
        return None
    does(made, flow, finding)
    return case._replace(scenario=made, seed=case.seed)


def _of(made: Spec, flow: str, *sections: str) -> list[Spec]:
    return [one for section in sections for one in made.get(section, ()) if re.match(rf"{flow}\b", one["name"])]


def _unplanned(made: Spec, flow: str, *actions: str) -> None:
    """What happened by such actions does not."""
    made["schedule"] = [
        one
        for one in made.get("schedule", ())
        if not (one["do"]["action"] in actions and one["do"].get("client", "").startswith(flow))
    ]


def _as_quick(made: Spec, flow: str, finding: Finding) -> None:
    _unplanned(made, flow, "slow_down")
    usual = min(one["processing"]["mean_ms"] for one in _of(made, flow, *_READERS))
    for one in _of(made, flow, *_READERS):
        one["processing"]["mean_ms"] = usual


def _more_readers(made: Spec, flow: str, finding: Finding) -> None:
    """As many more as it says, or twice as many; each with a partition."""
    told = re.search(r"(\d+) more readers?", finding.advice)
    for one in _of(made, flow, *_READERS)[:1]:
        one["count"] = one.get("count", 1) + int(told[1]) if told else 2 * one.get("count", 1)
        for topic in _of(made, flow, "topics"):
            topic["partitions"] = max(topic["partitions"], one["count"])


def _more_partitions(made: Spec, flow: str, finding: Finding) -> None:
    members = sum(one.get("count", 1) for one in _of(made, flow, *_READERS))
    for topic in _of(made, flow, "topics"):
        topic["partitions"] = members


def _there(made: Spec, flow: str, finding: Finding) -> None:
    _unplanned(made, flow, "pause", "remove_client", "restore_client")


def _kept_out(made: Spec, flow: str, finding: Finding) -> None:
    """The first time is the last one, or there is none where it must stay."""
    if "must stay" in finding.advice:
        return _unplanned(made, flow, "crash")
    crashes = [one for one in made["schedule"] if one["do"].get("client", "").startswith(flow)]
    made["schedule"] = [one for one in made["schedule"] if one not in crashes[1:]]
    crashes[0]["do"].pop("for_s", None)


def _static(made: Spec, flow: str, finding: Finding) -> None:
    for one in _of(made, flow, "consumers"):
        one["static"] = True
    for one in made["schedule"]:
        if one["do"].get("client", "").startswith(flow) and "for_s" in one["do"]:
            one["do"]["for_s"] = min(one["do"]["for_s"], 2.0)


def _spread(made: Spec, flow: str, finding: Finding) -> None:
    for one in _of(made, flow, "producers"):
        one["arrivals"] |= {"keys": 1000, "hot_share": 0.0}


def _mended(made: Spec, flow: str, finding: Finding) -> None:
    for one in _of(made, flow, *_READERS):
        one.pop("failures", None)


def _shorter_lease(made: Spec, flow: str, finding: Finding) -> None:
    told = re.search(r"lease of ([\d.]+)\s(ms|s)", finding.advice)
    lease_ms = max(100, round(float(told[1]) * {"ms": 1, "s": 1000}[told[2]])) if told else 1_000
    for one in _of(made, flow, "queues"):
        one["config"]["lease_ms"] = lease_ms
    for one in _of(made, flow, "share_groups"):
        one["record_lock_duration_ms"] = max(1_000, lease_ms)


def _kept_longer(made: Spec, flow: str, finding: Finding) -> None:
    for one in _of(made, flow, "topics"):
        one["log"]["retention_ms"] = 24 * 3_600_000
    if "reader" in finding.advice:
        _more_readers(made, flow, finding)


def _higher_limit(made: Spec, flow: str, finding: Finding) -> None:
    for one in _of(made, flow, "topics", "queues"):
        one["flow"]["rate_per_s"] *= 3


def _cooperative(made: Spec, flow: str, finding: Finding) -> None:
    for one in _of(made, flow, "groups"):
        one["assignor"] = "cooperative-sticky"


_HOW: dict[str, Callable[[dict[str, Any], str, Finding], None]] = {
    "slow-reader": _as_quick, "slow-start": _as_quick, "slowdown": _as_quick, "outage": _more_readers,
    "growing": _more_readers, "burst": _more_readers, "blocked": _more_readers, "retries": _more_readers,
    "partition-limit": _more_partitions, "stopped": _there, "flapping": _kept_out, "deploy": _static,
    "hot-key": _spread, "hot-partition": _spread, "poison": _mended, "expired-leases": _shorter_lease,
    "deleted-unread": _kept_longer, "rate-limit": _higher_limit, "rebalance": _cooperative,
}  # fmt: skip
