"""How well findings name causes that are known: as a classifier is measured."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from spark_reports.findings.finding import BAD, WARN, Finding
from tests.diagnosis.scenarios import Case

#: The kinds of findings that name each cause.
NAMES = {
    "slow_member": {"slow-reader"},
    "dead_member": {"dead-reader", "outage"},
    "flapping_member": {"flapping"},
    "rolling_deploy": {"deploy"},
    "overload": {"growing", "behind"},
    "too_few_workers": {"growing", "behind"},
    "hot_key": {"hot-key"},
    "hot_partition": {"hot-partition", "skew"},
    "too_few_partitions": {"partition-limit"},
    "poison": {"poison"},
    "retry_storm": {"retries"},
    "retention": {"deleted-unread"},
    "stopped_group": {"stopped"},
    "blocked_producer": {"blocked", "rate-limit"},
    "burst": {"burst"},
    "rebalance_storm": {"rebalance"},
    "slow_first_poll": {"slow-start"},
    "leases_run_out": {"expired-leases"},
}
_WORD = re.compile(r"[\w.-]*\w(?:/\d+)?")


class Judged(NamedTuple):
    """`first` is the kind of the first finding that tells of harm; `named` and `right` go by the truths of the case."""

    case: Case
    first: str
    named: tuple[bool, ...]  # each truth, by the first finding, or by the first three if there are two
    right: tuple[bool, ...]  # and its object, too
    warned: bool
    innocent: tuple[str, ...]  # headlines that accuse what has nothing to do with it

    @property
    def is_good(self) -> bool:
        """Whether nothing is to be said against it."""
        return all(self.right) and not self.innocent and (bool(self.case.truths) or not self.warned)


def _says(finding: Finding, objects: Iterable[str]) -> bool:
    words = set(_WORD.findall(finding.headline))
    return any(set(name.split()) <= words for name in objects)


def judge(case: Case, found: Sequence[Finding]) -> Judged:
    """`found` in their order. Who is told of first is who is to be looked at first."""
    told = [one for one in found if one.harm.weight_s > 0]
    top = told[: 1 if len(case.truths) < 2 else 3]
    named, right = [], []
    for truth in case.truths:
        kinds = NAMES[truth.cause]
        named.append(any(one.kind in kinds for one in top))
        right.append(any(one.kind in kinds and _says(one, truth.objects) for one in top))
    warnings = [one for one in found if one.level in (BAD, WARN)]
    innocent = tuple(one.headline for one in warnings if _innocent(case, one))
    first = told[0].kind or "(no cause)" if told else "(nothing)"
    return Judged(case, first, tuple(named), tuple(right), bool(warnings), innocent)


def _innocent(case: Case, finding: Finding) -> bool:
    """Whether it accuses a flow that has no cause, or a member that is not the one."""
    truly = {name for truth in case.truths for name in (*truth.objects, *truth.near)}
    words = set(_WORD.findall(finding.headline))
    for flow, names in case.flows.items():
        touched = any(one.split("/")[0] in names or one == "key-0" for one in truly) and flow in _flows(case)
        mentioned = words & set(names) or any(word.split("/")[0] == flow for word in words)
        if mentioned and not touched:
            return True
        members = {name for name in names if re.search(r"-\d+$", name)}
        if words & members and not words & members & truly:
            return True
    return False


def _flows(case: Case) -> set[str]:
    """The flows into which something was put: the first ones."""
    return set(list(case.flows)[: len(case.truths)])


def matrix(judged: Sequence[Judged]) -> str:
    """A row for each cause: how often each kind of finding came first, and the shares that matter."""
    rows = Counter((one.case.cause, one.first) for one in judged if len(one.case.truths) < 2)
    lines = []
    for name in sorted({cause for cause, _ in rows}):
        mine = [one for one in judged if one.case.cause == name]
        good = sum(all(one.named) and (bool(one.case.truths) or not one.warned) for one in mine)
        right = sum(all(one.right) for one in mine)
        firsts = ", ".join(f"{kind} {count}" for (of, kind), count in rows.most_common() if of == name)
        lines.append(f"{name:20} {good:3} of {len(mine):3} named, {right:3} right, "
                     f"{sum(bool(one.innocent) for one in mine):2} accuse others | {firsts}")  # fmt: skip
    one, none, two = ([each for each in judged if len(each.case.truths) == size] for size in (1, 0, 2))
    lines += [
        _share("one cause: named first", sum(all(each.named) for each in one), len(one)),
        _share("one cause: its object right", sum(all(each.right) for each in one), len(one)),
        _share("healthy: with any warning", sum(each.warned for each in none), len(none)),
        _share("something innocent accused", sum(bool(each.innocent) for each in judged), len(judged)),
        _share("two causes: both among the first three", sum(all(each.right) for each in two), len(two)),
    ]
    return "\n".join(lines)


def _share(words: str, count: int, of: int) -> str:
    return f"{words}: {count} of {of}, {100 * count / max(of, 1):.1f} %"
