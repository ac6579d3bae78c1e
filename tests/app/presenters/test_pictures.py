"""Gauges, cards, timeline, status, canvas, inspector and targets made of a snapshot."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from app.commands.clients import current_group, move_choices
from app.commands.forms import name_error
from app.presenters.backpressure import block_chains, gate_of, gate_state, gauge_facts, gauges
from app.presenters.canvas import RINGS_MAX, CanvasModel
from app.presenters.charts import RateTable
from app.presenters.inspector import inspector_facts
from app.presenters.navigator import NavigatorModel
from app.presenters.owners import Owners
from app.presenters.rebalances import RebalanceCards
from app.presenters.status import FrameFigures, StatusModel
from app.sessions.history.series import SessionSeries
from broker_core.events import Event, EventKind
from broker_core.snapshots import FaultView
from resources.units import per_second
from tests.app.presenters import made_up
from widgets.canvas.view import NEW_GROUP
from widgets.formats import Times

S, MS = made_up.S, made_up.MS
SNAPSHOTS = [made_up.living(), made_up.rebalancing(), made_up.blocked(), made_up.empty()]


def test_a_full_gate_comes_first_and_says_who_waits_and_how_long():
    first, second = gauges(made_up.blocked())
    assert (first.target, first.state, first.depth, first.share) == ("alerts", "Full", "50 of 50", 1.0)
    assert first.blocked == ("alerts-feed for 1.2 s",)
    assert first.slowest == "Slowest reader: mail"
    assert first.rate == "At most 25 messages/s · 3 tokens left"
    assert (second.target, second.kind, second.state) == ("builds", "queue", "Open")
    assert second.slowest == "Includes ready, delayed and in-flight messages", "a queue has no reader but itself"


@pytest.mark.parametrize(
    ("gate", "state"),
    [
        (None, ""),
        (made_up.gate("a", 0, None), "Open"),
        (made_up.gate("a", 10, 50), "Open"),
        (made_up.gate("a", 40, 50), "Limited"),
        (made_up.gate("a", 50, 50), "Full"),
        (made_up.gate("a", 1, 50, (("p", 0),)), "Full"),
        (made_up.gate("a", 1, None, rate_limit_per_s=5.0, tokens=0.2), "Limited"),
        (made_up.gate("a", 1, None, (("p", 0),), rate_limit_per_s=5.0, tokens=0.2), "Limited"),
        (made_up.gate("a", 1, None, (("p", 0),)), "Full"),
        (made_up.gate("a", 3, None, depth_bytes=200, limit_bytes=300), "Open"),
        (made_up.gate("a", 3, 50, depth_bytes=290, limit_bytes=300), "Limited"),
        (made_up.gate("a", 3, None, depth_bytes=300, limit_bytes=300, policy="reject"), "Full"),
        (
            made_up.gate("a", 3, None, (("p", 0),), depth_bytes=290, limit_bytes=300, rate_limit_per_s=5.0, tokens=5.0),
            "Full",
        ),
    ],
)
def test_the_state_of_a_gate(gate, state):
    assert gate_state(gate) == state


def test_the_limits_of_all_but_subscriptions_can_be_changed():
    base = made_up.living()
    (queue,), (topic, *_) = base.queues, base.topics
    of_topic = msgspec.structs.replace(topic, name="mail", gate=made_up.gate("mail", 0, 5))  # and a group is called so
    of_nobody = msgspec.structs.replace(queue, name="feed", topic="commits", gate=made_up.gate("feed", 0, 5))
    shown = gauges(msgspec.structs.replace(base, topics=(of_topic,), queues=(queue, of_nobody)))
    assert {one.target for one in shown if one.limits is None} == {"feed"}
    assert {one.target for one in shown} == {"feed", "mail", "builds"}


def test_a_gauge_of_a_rate_alone_says_rate_and_tokens():
    facts = gauge_facts(made_up.gate("a", 0, None, rate_limit_per_s=25.0, tokens=3.4), "topic", 0)
    assert (facts.depth, facts.share) == ("25/s, 3 tokens", None)
    assert facts.rate == "At most 25 messages/s · 3 tokens left"
    one = gauge_facts(made_up.gate("a", 0, None, rate_limit_per_s=25.0, tokens=1.0), "topic", 0)
    assert (one.depth, one.rate) == ("25/s, 1 token", "At most 25 messages/s · 1 token left")


def test_a_limit_of_bytes_is_told_wherever_the_gate_is(canvas):
    base = made_up.blocked()
    limits: dict[str, Any] = {"depth_bytes": 290, "limit_bytes": 300, "rate_limit_per_s": 1_000.0, "tokens": 9.0}
    by_bytes = made_up.gate("alerts", 3, None, (("alerts-feed", 17 * S),), **limits)
    topics = tuple(
        msgspec.structs.replace(topic, gate=by_bytes) if topic.name == "alerts" else topic for topic in base.topics
    )
    snapshot = msgspec.structs.replace(base, topics=topics)
    first = gauges(snapshot)[0]
    assert (first.target, first.depth, first.share) == ("alerts", "290 B of 300 B", 290 / 300)
    assert gauge_facts(made_up.gate("a", 3, 50, **limits), "topic", 0).depth == "3 of 50, 290 B of 300 B"
    (chain,) = block_chains(snapshot, SessionSeries())
    assert chain.links[1].words == "alerts is full: 290 B of 300 B"
    topic = next(one for one in canvas.view(snapshot).topics if one.name == "alerts")
    assert ", depth 290 B of 300 B\n" in topic.detail
    link = next(one for one in canvas.view(snapshot).links if one.source == "producer:alerts-feed")
    assert link.reason == "alerts is full"
    facts = inspector_facts(snapshot, "topic:alerts", SessionSeries())
    assert facts is not None and ("Depth", "290 B of 300 B") in facts.sections[1][1]


def test_a_producer_that_waits_for_tokens_is_not_told_that_the_topic_is_full(canvas):
    base = made_up.blocked()
    waits = made_up.gate("alerts", 0, None, (("alerts-feed", 17 * S),), rate_limit_per_s=5.0, tokens=0.0)
    topics = tuple(
        msgspec.structs.replace(topic, gate=waits) if topic.name == "alerts" else topic for topic in base.topics
    )
    snapshot = msgspec.structs.replace(base, topics=topics)
    link = next(one for one in canvas.view(snapshot).links if one.source == "producer:alerts-feed")
    assert (link.blocked, link.reason) == (True, "alerts is limited to a number of messages per second")
    producer = inspector_facts(snapshot, "producer:alerts-feed", SessionSeries())
    topic = inspector_facts(snapshot, "topic:alerts", SessionSeries())
    assert producer is not None
    assert topic is not None
    assert ("Blocked", "1.0 s by alerts; it waits for tokens") in producer.sections[0][1]
    assert ("Depth", "0, no limit") in topic.sections[1][1]


def test_every_place_says_the_same_rate(qapp):
    snapshot, series = made_up.living(), SessionSeries()
    begin_ns = snapshot.time_ns - S
    for kind, client, group, topic, count in (
        (EventKind.PUBLISHED, "feed", "", "commits", 480),
        (EventKind.DELIVERED, "indexer-1", "indexers", "commits", 24),
        (EventKind.ACKNOWLEDGED, "indexer-1", "indexers", "commits", 24),
        (EventKind.DELIVERED, "builder-1", "builds", "builds", 10),
    ):
        place: dict[str, Any] = {"topic": topic, "partition": 0, "offset": 0}
        series(Event(0, begin_ns, kind, client=client, group=group, count=count, size_bytes=96, **place))
    view = CanvasModel(Owners(), series).view(snapshot)
    rows = {row.id: row for section in NavigatorModel(series).update(snapshot) for row in section.rows}
    table = RateTable(series)
    table.set_snapshot(snapshot)
    listed = {row.name: row.per_s for row in table.rows}
    cards: dict[str, Any] = {card.id: card for card in view.producers}
    cards |= {card.id: card for card in view.groups[0].members} | {card.id: card for card in view.queues[0].workers}
    for item, per_s in (("producer:feed", 240), ("consumer:indexer-1", 12), ("worker:builder-1", 5)):
        facts = inspector_facts(snapshot, item, series)
        assert facts is not None
        said = dict(row[:2] for _title, section in facts.sections for row in section)["Rate"]
        figure = per_second(per_s)
        assert (said, rows[item].figure) == (f"{figure} messages/s, mean of 2.0 s", f"{figure}/s")
        assert cards[item].rate_per_s == listed[cards[item].name] == per_s
        for tip in (rows[item].tip, cards[item].detail):
            assert "Rates are the mean of the last 2.0 s." in tip
    flows = {(link.source, link.target): link.rate_per_s for link in view.links}
    assert flows["producer:feed", "topic:commits"] == view.topics[0].rate_per_s == 240 == listed["commits"]
    assert flows["topic:commits", "group:indexers"] == 12
    assert flows["queue:builds", "workers:builds"] == view.queues[0].rate_per_s == 5
    assert StatusModel(series).update(snapshot).rate == "240 messages/s"


def test_a_worker_with_one_message_says_which_offset_it_is_on(canvas):
    one = canvas.view(made_up.living(in_flight=1)).queues[0].workers[0]
    many = canvas.view(made_up.living(in_flight=6)).queues[0].workers[0]
    assert (one.note, many.note) == ("at 1,200", "on 3 messages")


def test_a_subscription_names_the_topic_that_it_reads_and_a_line_leads_from_there(canvas):
    base = made_up.living()
    own = msgspec.structs.replace(base.queues[0], topic=base.queues[0].name)
    taker = msgspec.structs.replace(
        base.actors[-1], name="context", target="context.alerts", topics=("context.alerts",)
    )
    box = msgspec.structs.replace(own, name="context.alerts", topic="alerts")
    view = canvas.view(msgspec.structs.replace(base, queues=(own, box), actors=(*base.actors, taker)))
    assert [queue.reads for queue in view.queues] == ["", "alerts"]
    into = [link.key for link in view.links if link.target.startswith("queue:") and link.kind == "consume"]
    assert into == [("topic:alerts", "queue:context.alerts", "consume")]
    several = msgspec.structs.replace(taker, topics=("orders", "alerts"))
    other = msgspec.structs.replace(box, name="context.orders")
    both = msgspec.structs.replace(base, queues=(other, box), actors=(several,))
    assert [queue.taken_by for queue in canvas.view(both).queues] == [("context",), ()], "its card is at the second"


def test_a_gate_is_found_by_its_target():
    gate = gate_of(made_up.blocked(), "alerts")
    assert gate is not None
    assert gate.depth == 50
    assert gate_of(made_up.blocked(), "commits") is None


def test_cards_say_cause_generation_moved_and_kept():
    owners = Owners()
    owners.update_all(made_up.living())
    cards = RebalanceCards(owners, Times())
    first, *_rest, last = cards.of(made_up.living())
    assert (first.cause, first.generation, first.no_reader, first.state) == (
        "indexer-3 joined",
        "2 → 3",
        "took 120 ms; no partition lost its reader",
        "Stable",
    )
    assert [(move.place, move.old.letter, move.new.letter) for move in first.moved] == [
        ("commits/2", "A", "B"), ("commits/4", "B", "C"), ("commits/5", "B", "C"),
    ]  # fmt: skip
    assert [move.place for move in first.kept] == ["commits/0", "commits/1", "commits/3"]
    assert last.moved[0].old.name == ""
    assert cards.of(made_up.living())[0] is first


def test_a_running_rebalance_shows_what_is_revoked():
    cards = RebalanceCards(Owners(), Times())
    first = cards.of(made_up.rebalancing())[0]
    assert (first.running, first.state, first.generation) == (True, "Rebalancing", "4 → …")
    assert len(first.moved) == 6
    assert {move.new.name for move in first.moved} == {""}


def test_the_status_bar_says_units():
    series = SessionSeries()
    series(Event(0, 12 * S, EventKind.PUBLISHED, topic="a", count=344))
    model = StatusModel(series)
    model.origin, model.recording_bytes = "Seed 7", 3_456_789
    model.frames = FrameFigures(6.4, 11.2, 1.6, 8.0, 40.0, 1_203)
    facts = model.update(made_up.living(13 * S))
    assert (facts.seed, facts.in_flight, facts.recording, facts.frame) == (
        "Seed 7",
        "7 in flight",
        "Recording 3.30 MiB",
        "Frame 6 ms, late 2 ms, frames dropped 1,203",
    )
    assert "11.2 ms at the 99th percentile" in facts.frame_tip and "40.0 ms at the worst" in facts.frame_tip
    assert facts.rate == "172 messages/s"
    assert facts.rate_tip.endswith("Rates are the mean of the last 2.0 s.")


@pytest.fixture
def canvas():
    return CanvasModel(Owners(), SessionSeries())


def test_the_canvas_seats_everybody(canvas):
    view = canvas.view(made_up.living())
    assert [card.name for card in view.producers] == ["feed", "alerts-feed", "build-feed"]
    assert [card.name for card in view.bench] == ["indexer-4"]
    assert [(box.name, [card.name for card in box.members]) for box in view.groups] == [
        ("indexers", ["indexer-1", "indexer-2", "indexer-3"]), ("mail", ["mailer"]),
    ]  # fmt: skip
    assert [card.name for card in view.queues[0].workers] == ["builder-1", "builder-2"]
    assert [box.name for box in view.topics] == ["commits", "alerts"]
    lane = view.topics[0].lanes[2].groups[0]
    assert (lane.owner, lane.badge, lane.hue, lane.lag) == ("indexer-2", "B", 1, 24)
    assert view.groups[0].members[0].partitions == 2


def test_the_canvas_gives_the_same_hue_as_the_registry():
    owners = Owners()
    view = CanvasModel(owners, SessionSeries()).view(made_up.living())
    cards = [card for box in view.groups for card in box.members] + list(view.bench)
    assert [(card.hue, card.badge) for card in cards] == [
        (owners.hue(one.name), owners.letter(one.name)) for one in cards
    ]


def test_a_card_says_since_when_its_connection_is_lost(canvas):
    snapshot = made_up.living()
    group = snapshot.groups[0]
    first = replace(group.members[0], lost_ns=12 * S)
    lost = replace(snapshot, groups=(replace(group, members=(first, *group.members[1:])), *snapshot.groups[1:]))
    # A program of its own is no actor: nothing but its connection tells of it.
    lost = replace(lost, actors=tuple(actor for actor in lost.actors if actor.name != first.client))
    members = {card.name: card for card in canvas.view(lost).groups[0].members}
    card, other = members[first.client], members[group.members[1].client]
    assert (card.name, card.state, card.note) == (first.client, "Connection lost", "since 00:12.000")
    assert other.state != "Connection lost" and other.note == ""
    facts = inspector_facts(lost, f"consumer:{first.client}", SessionSeries())
    assert facts is not None and facts.state == "Connection lost"
    label, words = facts.sections[0][1][0][:2]
    assert label == "In this state" and words.endswith("since 00:12.000")


def test_a_revoked_lane_is_marked_and_the_link_stands_still(canvas):
    view = canvas.view(made_up.rebalancing())
    assert all(lane.groups[0].revoked for lane in view.topics[0].lanes)
    link = next(one for one in view.links if one.target == "group:indexers")
    assert link.blocked
    assert link.reason == "indexers is rebalancing"


def test_a_blocked_producer_is_hatched_and_the_reason_names_the_slowest_reader(canvas):
    view = canvas.view(made_up.blocked())
    link = next(one for one in view.links if one.source == "producer:alerts-feed")
    assert (link.target, link.blocked, link.reason) == ("topic:alerts", True, "alerts is full: mail is behind")
    assert view.topics[1].gate == "Full"


def test_rings_are_the_most_urgent_and_few(canvas):
    box = canvas.view(made_up.crowded(in_flight=500, dead=10)).queues[0]
    assert box.in_flight == 500
    assert len(box.leases) == RINGS_MAX
    lefts = [ring.left for ring in box.leases]
    assert lefts == sorted(lefts)


def test_links_join_what_is_on_the_canvas(canvas):
    view = canvas.view(made_up.living())
    boxes = {one.id for one in view.producers} | {one.id for one in view.topics}
    boxes |= {one.id for one in view.groups} | {one.id for one in view.queues}
    boxes |= {one.workers_id for one in view.queues} | {one.dead_letters_id for one in view.queues}
    assert {end for link in view.links for end in (link.source, link.target)} <= boxes
    assert len({link.key for link in view.links}) == len(view.links)


def test_nothing_gives_an_empty_canvas(canvas):
    assert canvas.view(made_up.empty()).is_empty


def every_id(snapshot):
    view = CanvasModel(Owners(), SessionSeries()).view(snapshot)
    for boxes in (view.producers, view.topics, view.groups, view.queues, view.bench):
        yield from (one.id for one in boxes)
    yield from (card.id for box in (*view.groups,) for card in box.members)
    yield from (card.id for box in view.queues for card in box.workers)
    yield from (f"lane:{box.name}/{lane.partition}" for box in view.topics for lane in box.lanes)
    yield from (one for box in view.queues for one in (box.workers_id, box.dead_letters_id))
    yield "bench"


@pytest.mark.parametrize("snapshot", SNAPSHOTS)
def test_everything_on_the_canvas_has_facts(snapshot):
    for selected in every_id(snapshot):
        facts = inspector_facts(snapshot, selected, SessionSeries())
        assert facts is not None, selected
        assert facts.sections
        assert all(isinstance(text, str) for _heading, rows in facts.sections for row in rows for text in row)


@pytest.mark.parametrize("selected", ["", "consumer:nobody", "lane:commits/77", "lane:", "weather:today", "queue:x"])
def test_what_is_not_there_has_no_facts(selected):
    assert inspector_facts(made_up.living(), selected, SessionSeries()) is None


def test_the_inspector_says_why_a_producer_waits():
    facts = inspector_facts(made_up.blocked(), "producer:alerts-feed", SessionSeries())
    assert facts is not None
    assert ("Blocked", "1.2 s by alerts; slowest reader: mail") in facts.sections[0][1]


def test_one_message_is_told_as_one():
    queue = inspector_facts(made_up.crowded(in_flight=1, dead=2), "queue:builds", SessionSeries())
    assert queue is not None
    assert {("In flight", "1 message"), ("Dead letters", "2 messages")} <= set(queue.sections[0][1])


def test_a_consumer_can_go_anywhere_but_where_it_is():
    choices = move_choices(made_up.living(), "indexer-1")
    assert [(one.target, bool(one.reason)) for one in choices] == [
        ("indexers", True), ("mail", False), ("", False), (NEW_GROUP, False),
    ]  # fmt: skip
    benched = move_choices(made_up.living(), "indexer-4")
    assert [(one.target, bool(one.reason)) for one in benched] == [
        ("indexers", False), ("mail", False), ("", True), (NEW_GROUP, False),
    ]  # fmt: skip
    assert current_group(made_up.living(), "mailer") == "mail"


def test_the_name_of_a_new_group_is_checked():
    assert name_error("archivers", "group", ()) == ""
    assert "letters" in name_error("no spaces", "group", ())


@pytest.mark.parametrize(
    ("policy", "counts", "line"),
    [
        ("block", {}, "Blocked 0 ms in all"),
        ("block", {"rejected": 2}, "Blocked 0 ms in all · Rejected 2"),
        ("reject", {"rejected": 363}, "Rejected 363"),
        ("drop_newest", {"dropped": 363}, "Dropped 363"),
        ("drop_oldest", {"evicted": 479}, "Evicted 479"),
        ("priority_evict", {"evicted": 87, "dropped": 5}, "Evicted 87 · Dropped 5"),
    ],
)
def test_each_policy_has_its_own_word_and_count(policy, counts, line):
    gate = made_up.gate("t", 5, 5, policy=policy, **({"rejected": 0, "dropped": 0, "blocked_ns_total": 0} | counts))
    assert gauge_facts(gate, "queue", 0).turned_away == line


def test_a_worker_that_stands_still_at_its_message_is_no_fault():
    base = made_up.living()
    states = {"builder-1": "paused", "builder-2": "crashed"}
    actors = tuple(msgspec.structs.replace(one, state=states.get(one.name, one.state)) for one in base.actors)
    sections = NavigatorModel(SessionSeries()).update(msgspec.structs.replace(base, actors=actors))
    (faults,) = (section for section in sections if section.key == "faults")
    assert [row.name for row in faults.rows] == ["builder-2"]


def test_the_row_of_a_fault_says_whom_it_disturbs_as_its_tip_does():
    full = FaultView("", "fill_disk", "the disk is full", 0, None)
    slow = FaultView("", "fault slow-produce", "delay of 500 ms: Produce", 0, None)
    snapshot = msgspec.structs.replace(made_up.living(), faults=(full, slow))
    (faults,) = (section for section in NavigatorModel(SessionSeries()).update(snapshot) if section.key == "faults")
    assert [row.name for row in faults.rows] == ["the disk", "requests"]
    assert all(row.tip.startswith(f"{row.name}: ") for row in faults.rows)


def test_a_full_disk_is_the_state_of_every_topic_and_queue(canvas):
    base = made_up.living()
    full = msgspec.structs.replace(base, faults=(FaultView("", "fill_disk", "the disk is full", 0, None),))
    shown = canvas.view(full)
    assert {topic.gate for topic in shown.topics} | {queue.gate for queue in shown.queues} == {"Disk full"}
    assert "Disk full" not in {topic.gate for topic in canvas.view(base).topics}
