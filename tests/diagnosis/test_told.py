"""What a report says of sessions of each kind of which it once said something false. No Spark needed."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import polars as pl
import pytest
import yaml

import resources
from spark_reports.findings.find import find
from spark_reports.findings.finding import Finding
from spark_reports.findings.remedies import remedy_of
from spark_reports.findings.verdict import verdict
from spark_reports.page.charts import chart_data
from spark_reports.request.assertions import judge
from spark_reports.request.parts import EVERY
from spark_reports.scale import scale_of
from spark_reports.text import bare
from tests.diagnosis.scenarios import Case, Spec
from tests.diagnosis.sessions import made, simulated

S = 1_000_000_000


class Told(NamedTuple):
    """The tables of a session and its findings."""

    rows: dict[str, list[dict[str, Any]]]
    found: list[Finding]
    charts: dict[str, Any]
    events: pl.DataFrame

    @property
    def first(self) -> Finding:
        return next(one for one in self.found if one.harm.weight_s)

    @property
    def advice(self) -> str:
        remedy = remedy_of(self.first)
        return bare(remedy.advice if remedy else "")

    @property
    def all_of_it(self) -> str:
        return bare(" ".join(f"{one.headline}. {one.detail} {one.why} {one.advice}" for one in self.found))

    @property
    def verdict(self) -> str:
        return bare(verdict(self.found, [], [], EVERY).sentence)

    def client(self, name: str) -> dict[str, Any]:
        return next(row for row in self.rows["consumers"] if row["client"] == name)


def told(until_s: float, *, others: bool = False, **sections: Any) -> Told:
    """A session with these parts of a scenario; with `others`, its clients are of other programs."""
    case = Case(1, {"title": "Told", "about": "Told.", "seed": 1, "until_s": until_s, **sections}, (), {})
    events, duration_ns, totals = simulated(case)
    tables = made(events.filter(pl.col("kind") != "client_started") if others else events, duration_ns, totals)
    rows = tables.rows()
    found = find(rows, tables.scale, scenario=case.text)
    return Told(rows, found, chart_data(rows, tables.scale), events)


def group(partitions: int, each_ms: float, readers: int, arrivals: Spec, **more: Any) -> dict[str, Any]:
    """The parts of a scenario with one group: topic `orders`, group `billing`, readers `pod-1` and so on."""
    log = more.pop("log", {})
    static, schedule = more.pop("static", False), more.pop("schedule", ())
    pods = {"name": "pod", "group": "billing", "count": readers, "static": static, "processing": constant(each_ms)}
    return {
        "topics": [{"name": "orders", "partitions": partitions, "log": log}],
        "groups": [{"name": "billing", "topics": ["orders"], **more}],
        "producers": [{"name": "shop", "to": "orders", "arrivals": arrivals}],
        "consumers": [pods],
        "schedule": [{"at_s": at_s, "do": do} for at_s, do in schedule],
    }


def queue(each_ms: float, workers: int, arrivals: Spec, **more: Any) -> dict[str, Any]:
    """The parts of a scenario with one queue, `jobs`, and its workers `hand-1` and so on."""
    failures = more.pop("failures", ())
    hands = {"name": "hand", "queue": "jobs", "count": workers, "processing": constant(each_ms), "failures": failures}
    config = {"lease_ms": 30_000, "max_attempts": 5, **more}
    return {
        "queues": [{"name": "jobs", "config": config}],
        "producers": [{"name": "shop", "to": "jobs", "arrivals": arrivals}],
        "workers": [hands],
    }


def constant(mean_ms: float) -> Spec:
    return {"kind": "constant", "mean_ms": mean_ms}


def rate(per_s: float, **more: Any) -> Spec:
    return {"kind": "rate", "per_s": per_s, "spacing": "constant", **more}


def crash(client: str, for_s: float) -> Spec:
    return {"action": "crash", "client": client, "for_s": for_s}


@pytest.mark.parametrize("until_s", [60, 900])
def test_how_busy_a_reader_was_does_not_depend_on_how_long_the_session_is(until_s: float) -> None:
    bursts = {"kind": "bursty", "per_s": 200, "on_s": 0.01, "off_s": 0.49}
    session = told(until_s, **group(1, 10, 1, bursts))
    assert session.client("pod-1")["utilisation"] == pytest.approx(0.04, abs=0.002)
    assert session.client("pod-1")["each_p50_ns"] == pytest.approx(10_000_000, rel=0.01)


def test_two_readers_that_have_a_tenth_to_do_are_busy_for_a_tenth_and_nothing_is_advised() -> None:
    session = told(60, **group(2, 4, 2, rate(50, keys=1000)))
    assert [session.client(name)["utilisation"] for name in ("pod-1", "pod-2")] == pytest.approx([0.1, 0.1], abs=0.01)
    assert "harm" in session.verdict and "spare" not in session.all_of_it


@pytest.mark.parametrize("others", [False, True], ids=["of the session", "of other programs"])
def test_no_reader_is_called_busy_for_a_share_of_its_time_and_unknown_as_well(others: bool) -> None:
    session = told(30, others=others, **group(2, 25, 2, rate(100, keys=1000)))
    reader = session.client("pod-1")
    assert reader["outside"] is others
    assert reader["utilisation"] > 0.85
    everything = f"{session.all_of_it} {session.verdict} {session.charts}"
    shares = re.findall(r"busy (\d+) %", everything)
    unknown = re.findall(r"[^.]*busy[^.]*not known[^.]*|[^.]*not known[^.]*busy[^.]*", everything)
    assert unknown == []
    assert shares or others, "how busy programs of others are is told in figures, not in sentences"
    assert all(int(share) in {80, *range(85, 101)} for share in shares), "80 % is what is advised"


def test_a_queue_that_had_drained_by_the_end_did_harm_and_its_workers_were_not_idle_meanwhile() -> None:
    session = told(120, **queue(48, 2, {"kind": "bursty", "per_s": 90, "on_s": 20, "off_s": 200}))
    assert session.first.kind == "burst" and session.first.section == "queues"
    assert session.first.harm.at_once == pytest.approx(965, abs=20)
    assert session.first.headline in session.verdict and "Nothing did harm" not in session.verdict
    assert "idle" not in session.all_of_it.replace("they idle in between", "")
    assert session.advice.startswith("3 more readers would take the peak")


def test_who_was_down_is_named_and_who_had_its_work_is_not_called_slow() -> None:
    down = [(20, crash("pod-4", 30))]
    session = told(80, **group(4, 44, 4, rate(70, keys=1000), session_timeout_ms=6000, schedule=down))
    assert session.first.kind == "outage" and "pod-4" in session.first.headline
    assert "holds" not in session.all_of_it and "pod-3" not in session.all_of_it
    each = [session.client(f"pod-{number}")["each_p50_ns"] for number in range(1, 5)]
    assert each == pytest.approx([44_000_000] * 4, rel=0.02)


def test_who_is_twelve_times_as_slow_for_a_minute_is_named_with_its_time() -> None:
    slow = [(30, {"action": "slow_down", "client": "pod-2", "factor": 12, "for_s": 30})]
    session = told(90, **group(3, 40, 3, rate(30, keys=1000), schedule=slow))
    assert re.fullmatch(
        r"pod-2 holds billing back: 4[678]\d ms a message, the others 40 ms", bare(session.first.headline)
    )
    assert "the others would be busy 80 % at the most" in session.advice


def test_what_was_deleted_unread_was_not_delayed() -> None:
    kept = {"segment_ms": 2000, "retention_ms": 15_000}
    session = told(90, **group(2, 150, 1, rate(25, keys=1000), log=kept))
    (account,) = session.rows["account"]
    lost, late = (next(one for one in session.found if one.kind == kind) for kind in ("deleted-unread", "growing"))
    assert lost.harm.lost == account["lost"] == account["deleted"] > 1_000
    assert lost.advice == f"{late.advice} Keep messages for longer until then.", "more time alone is of no use to it"
    assert late.harm.delayed == pytest.approx(account["published"] - account["lost"], rel=0.1)
    at = ["topic", "partition", "offset"]
    each = {
        kind: session.events.filter(pl.col("kind") == kind) for kind in ("published", "delivered", "records_deleted")
    }
    begins = dict(
        each["records_deleted"].group_by("partition").agg((pl.col("offset") + pl.col("count")).max()).iter_rows()
    )
    got = each["published"].join(each["delivered"].select(*at, got_ns="time_ns"), on=at, how="left")
    kept_ns = [
        (90 * S if got_ns is None else got_ns) - published_ns
        for partition, offset, published_ns, got_ns in got.select(*at[1:], "time_ns", "got_ns").iter_rows()
        if got_ns is not None or offset >= begins[partition]
    ]
    assert late.harm.delayed == pytest.approx(len(kept_ns), rel=0.03)
    assert late.harm.message_s == pytest.approx(sum(kept_ns) / S, rel=0.05)


def test_a_gap_is_told_beside_an_overload_and_does_not_replace_it() -> None:
    gap = [(20, {"action": "remove_client", "client": "pod-1"}), (30, {"action": "restore_client", "client": "pod-1"})]
    session = told(120, **group(1, 50, 1, rate(25), schedule=gap))
    assert session.first.kind == "growing"
    assert re.search(r"Besides, nobody read for (10|10\.5|11|11\.5) s", bare(session.first.why)), session.first.why


def test_bars_of_owners_end_where_nobody_reads() -> None:
    away = [(20, crash("pod-1", 10))]
    session = told(60, **group(1, 10, 1, rate(20), session_timeout_ms=6000, schedule=away))
    (gap,) = session.rows["unserved"]
    assert gap["pause_ns"] > 8 * S
    spans = session.charts["ownership"]["spans"]
    assert spans and all(to_s <= gap["from_ns"] / S or from_s >= gap["to_ns"] / S for _, from_s, to_s, *_ in spans)


def test_deaths_of_a_share_group_are_messages() -> None:
    failing = {"cause": "bad", "rate": 1.0, "when": {"op": "contains", "value": "7 "}}
    members = {
        **{"name": "pool", "topics": ["orders"], "count": 2, "processing": constant(10), "failures": [failing]},
        **{"record_lock_duration_ms": 30_000, "delivery_count_limit": 3},
    }
    producer = {"name": "shop", "to": "orders", "arrivals": rate(10)}
    session = told(60, topics=[{"name": "orders", "partitions": 2}], share_groups=[members], producers=[producer])
    (account,) = session.rows["account"]
    assert session.first.kind == "poison"
    assert session.first.harm.dead == account["dead_lettered"] == account["published"] // 10


def test_a_hot_partition_wants_a_reader_of_its_own_if_that_is_enough() -> None:
    session = told(90, **group(8, 32, 4, rate(100, keys=100, hot_share=0.15)))
    assert session.first.kind == "hot-key" and "key-0" in session.first.headline
    assert "A reader of its own for that partition would be busy" in session.advice
    assert "do not help" not in session.all_of_it
    with_it = told(90, **group(8, 32, 8, rate(100, keys=100, hot_share=0.15)))
    assert "Nothing did harm" in with_it.verdict


def test_readers_that_stood_still_are_told_as_that_and_not_as_too_few() -> None:
    still = [(30, {"action": "pause", "client": name, "for_s": 40}) for name in ("pod-1", "pod-2")]
    session = told(100, **group(2, 20, 2, rate(30, keys=1000), session_timeout_ms=45_000, schedule=still))
    assert session.first.kind == "stopped"
    assert re.fullmatch(r"Nobody read billing for (39|40|41)(\.5)? s", bare(session.first.headline))
    assert "more readers" not in session.all_of_it


def test_a_worker_that_stands_still_is_away_though_its_lease_has_run_out() -> None:
    parts = queue(20, 1, rate(10), lease_ms=5_000)
    parts["schedule"] = [{"at_s": 10.01, "do": {"action": "pause", "client": "hand-1", "for_s": 30}}]
    session = told(60, **parts)
    assert session.first.kind == "stopped"
    assert re.fullmatch(r"Nobody read jobs for (29|30)(\.5)? s", bare(session.first.headline))


def test_a_partition_is_too_much_for_one_reader_if_all_of_them_would_do_what_comes() -> None:
    session = told(30, **group(4, 44, 4, rate(80, keys=15)))
    assert session.first.kind == "hot-partition"
    too_much = told(30, **group(4, 60, 4, rate(80, keys=15)))
    assert too_much.first.kind == "growing"


@pytest.mark.parametrize(("each_ms", "advice"), [(20, "keep it out until then"), (70, "must stay")])
def test_who_leaves_again_and_again_is_kept_out_only_if_the_others_can_do_without_it(each_ms: int, advice: str) -> None:
    away = [(5 + 15 * number, crash("pod-1", 10)) for number in range(3)]
    session = told(60, **group(4, each_ms, 4, rate(40, keys=1000), session_timeout_ms=8_000, schedule=away))
    assert session.first.kind == "flapping" and advice in session.advice
    assert bare(session.first.headline) == "pod-1 was away from billing 3 times", "it may not have come back each time"


def test_readers_are_not_blamed_for_what_happened_to_their_cluster() -> None:
    still = [(10, {"action": "pause", "client": name, "for_s": 15}) for name in ("pod-1", "pod-2")]
    session = told(40, **group(2, 20, 2, rate(30, keys=1000), session_timeout_ms=45_000, schedule=still))
    seen = {"kind": "incident", "cause": "node 1 not seen from 10 to 25; 1 leader moved", "began_ns": 10 * S}
    found = find({**session.rows, "cluster": [seen | {"time_ns": 25 * S}]}, scale_of(40 * S))
    assert [one.headline for one in found if one.harm.weight_s] == ["billing was behind: node 1 not seen from 10 to 25"]


def test_a_group_that_joins_at_the_beginning_harms_nobody() -> None:
    parts = group(12, 50, 3, rate(33, keys=1000, spacing="poisson"))
    parts["consumers"][0] |= {"processing": {"kind": "exponential", "mean_ms": 50}, "max_poll_messages": 1}
    session = told(30, **parts)
    assert session.rows["groups"][0]["max_ns"] > S, "the first messages did wait"
    assert "Nothing did harm" in session.verdict


@pytest.mark.parametrize(("share", "lease"), [(0.03, "2 s"), (0.1, r"[5-8]\d\d ms")])
def test_messages_that_hang_until_their_lease_runs_out_ask_for_no_more_readers(share: float, lease: str) -> None:
    """The lease that is advised leaves them time to spare, however many hang."""
    hang = {"cause": "hangs", "rate": share, "kind": "hang"}
    session = told(60, **queue(100, 2, rate(10), lease_ms=5000, max_attempts=20, failures=[hang]))
    assert session.first.kind == "expired-leases" and "more readers" not in session.all_of_it
    assert re.search(f"A lease of {lease} would free them sooner", session.advice), session.advice


def test_a_crash_is_blamed_and_not_the_restart() -> None:
    session = told(
        80, **group(2, 40, 2, rate(30, keys=1000), session_timeout_ms=10_000, schedule=[(30, crash("pod-1", 10))])
    )
    assert session.first.kind == "outage" and session.first.time_ns == pytest.approx(30 * S, abs=S)
    assert "restart" not in session.all_of_it


DEPLOY = [(20 + 25 * number, crash(f"pod-{number + 1}", 8)) for number in range(3)]


@pytest.mark.parametrize(
    ("timeout_ms", "static", "advice"),
    [
        (6_000, False, "Make the members static .* within the session timeout of 6 s, now it takes up to .*The price"),
        (20_000, False, "Make the members static .* within the session timeout of 20 s, as they do.*The price"),
        (20_000, True, "They are static, so nobody read in their place .*session timeout below that.*Its price"),
    ],
)
def test_each_outage_of_a_deploy_is_told_with_what_would_shorten_it(timeout_ms: int, static: bool, advice: str) -> None:
    session = told(
        100, **group(3, 40, 3, rate(30, keys=1000), session_timeout_ms=timeout_ms, static=static, schedule=DEPLOY)
    )
    assert session.first.kind == "deploy"
    if timeout_ms < 20_000 or static:
        assert "It was behind 3 times: from 00:20" in bare(session.first.detail)
        assert session.first.detail.count("waited at the most") == 3
        assert session.first.detail.endswith("; at the end no message waited too long.")
    assert re.search(advice, session.advice), session.advice


def test_what_adds_up_is_said_to_be_the_recording() -> None:
    session = told(60, **group(1, 150, 1, rate(25), log={"segment_ms": 2000, "retention_ms": 5000}))
    assert "lost" in session.verdict and "adds up" not in session.all_of_it
    assert any(one.headline == "The recording is whole: its totals are the broker's own" for one in session.found)


def test_what_was_lost_can_be_asserted_and_is_not_what_is_missing() -> None:
    session = told(60, **group(1, 150, 1, rate(25), log={"segment_ms": 2000, "retention_ms": 5000}))
    lost, left, missing = judge(("lost < 1", "dead_letters_left < 1", "missing < 1"), session.rows)
    assert (lost.holds, left.holds, missing.holds) == (False, True, True)
    assert lost.found == f"lost is {session.rows['account'][0]['lost']:,}"


def test_a_group_that_was_made_and_left_is_unread_from_then_on_and_what_falls_does_not_still_grow() -> None:
    """Someone drags a clerk to empty ground, and later back."""
    scenario = yaml.safe_load(resources.path("scenarios").joinpath("lag-and-catch-up.yaml").read_text())
    parts = {name: scenario[name] for name in ("topics", "groups", "producers", "consumers")}
    away, back = ({"action": "move_consumer", "consumer": "clerk-2", "group": to} for to in ("clerks-2", "clerks"))
    schedule = [{"at_s": 32, "do": away}, *scenario["schedule"], {"at_s": 80, "do": back}]
    session = told(195, **parts, schedule=schedule)
    headlines = [bare(one.headline) for one in session.found]
    assert "Nobody read clerks-2 for 1 min 55 s" in headlines, "not while it was not there"
    (too_much,) = (one for one in headlines if one.startswith("More comes to clerks "))
    assert "still grows" not in too_much, "up to 700 waited, and 132 at the end"


def test_what_came_is_more_than_what_it_is_compared_with() -> None:
    """With both readers there all the time, they would have done what came."""
    bursts = {"kind": "bursty", "per_s": 50, "on_s": 5, "off_s": 5, "keys": 1000}
    session = told(195, **group(4, 75, 2, bursts, schedule=[(40, crash("pod-2", 6))]))
    (too_much,) = (bare(one.headline) for one in session.found if one.kind == "growing")
    assert [float(each) for each in re.findall(r"([\d.]+)/s", too_much)] == pytest.approx([26.2, 22.6], abs=0.3)


def test_what_grew_in_the_beginning_is_told_of_the_beginning_although_its_reader_crashed_later() -> None:
    schedule = [
        (40, {"action": "move_consumer", "consumer": "pod-1", "group": "billing"}),
        (46, crash("pod-1", 8)),
        (62, {"action": "set_producer_rate", "client": "shop", "rate_per_s": 2}),
    ]
    parts = group(1, 18, 1, rate(50), schedule=schedule)
    session = told(150, **{**parts, "consumers": [{**parts["consumers"][0], "group": ""}]})
    assert bare(session.first.headline) == "Nobody read billing for the first 40 s"
