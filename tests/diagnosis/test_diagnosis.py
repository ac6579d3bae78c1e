"""Findings name what was put in, and accuse nothing else: a sample of what `make diagnosis` tries."""

from __future__ import annotations

import pytest

from spark_reports.findings.find import find
from tests.diagnosis.judge import judge
from tests.diagnosis.scenarios import CAUSES, SECTIONS, cases, draw
from tests.diagnosis.sessions import made, simulated

#: One case of most causes, each simulated within a second.
SAMPLE = (
    (2, ""), (9, "hot_key"), (3, "too_few_workers"), (27, "dead_member"), (109, "flapping_member"),
    (57, "rolling_deploy"),
    (46, "retry_storm"), (47, "retention"), (48, "stopped_group"), (62, "too_few_partitions"), (63, "poison"),
    (67, "blocked_producer"), (68, "burst"), (70, "slow_first_poll"), (71, "leases_run_out"), (54, "slow_member"),
)  # fmt: skip


@pytest.mark.parametrize(("seed", "cause"), SAMPLE)
def test_the_first_finding_names_the_cause_and_its_object(seed: int, cause: str) -> None:
    case = draw(seed, (cause,) if cause else ())
    tables = made(*simulated(case))
    rows = tables.rows()
    found = find(rows, tables.scale, scenario=case.text)
    judged = judge(case, found)
    assert judged.is_good, (judged, [(one.kind, one.headline) for one in found])


@pytest.mark.parametrize(
    ("seed", "cause", "duration_ns"),
    [(57, "rolling_deploy", 149_050_000_000), (109, "flapping_member", 45_410_000_000)],
)
def test_nobody_is_gone_because_the_last_bucket_is_short(seed: int, cause: str, duration_ns: int) -> None:
    """It lasts a twentieth of the others."""
    case = draw(seed, (cause,))
    events, _, totals = simulated(case)
    tables = made(events, duration_ns, totals)
    widths_ns = tables.scale.bucket_widths_ns
    assert widths_ns[-1] * 20 == widths_ns[0] and sum(widths_ns) == duration_ns
    assert judge(case, find(tables.rows(), tables.scale, scenario=case.text)).is_good


def test_cases_stay_the_same_and_every_cause_is_tried() -> None:
    every = cases()
    assert len(every) == 460 and sum(not wanted for _, wanted in every) == 40
    assert all(sum(wanted == (name,) for _, wanted in every) == 20 for name in CAUSES)
    assert draw(*every[77]).text == draw(*every[77]).text
    assert set(draw(*every[459]).scenario) <= {*SECTIONS, "title", "about", "seed", "until_s"} | {
        "consumer_session_timeout_ms", "consumer_heartbeat_interval_ms"
    }  # fmt: skip
