"""A broker with more than anybody can look at: a part is drawn and listed, the rest is counted, and said."""

from __future__ import annotations

import msgspec
import pytest

from app.presenters.assignments import AssignmentsModel
from app.presenters.canvas import CanvasModel
from app.presenters.excerpt import DRAWN_MAX, Excerpts, thinned
from app.presenters.navigator import NavigatorModel
from app.presenters.owners import Owners
from app.sessions.history.series import SessionSeries
from broker_core.snapshots import ActorView, GroupView, MemberView, OffsetView, PartitionView, Snapshot, TopicView
from tests.broker_core.test_many import steps
from widgets.formats import Times
from widgets.navigator import ROWS_MAX

MANY = 10_000


def crowded(count: int = MANY) -> Snapshot:
    topics = tuple(TopicView(f"topic-{at:05d}", (PartitionView(0, 0, 7, 70),), 7, 70, None) for at in range(count))
    groups = tuple(
        GroupView(
            f"group-{at:05d}",
            "Empty",
            0,
            "range",
            "",
            (f"topic-{at:05d}",),
            (),
            (OffsetView(f"topic-{at:05d}", 0, "", None, 5, 7, 2, 1),),
            0,
        )
        for at in range(count)
    )
    return Snapshot(1_000_000_000, 1, topics, groups)


def producer(target: str) -> ActorView:
    return ActorView("feed", "producer", "running", target, (target,), 0, 0, 0)


def test_what_is_few_is_left_as_it_is():
    few = crowded(DRAWN_MAX)
    excerpt = thinned(few, DRAWN_MAX)
    assert excerpt.snapshot is few and excerpt.is_whole


def test_what_clients_use_and_what_is_selected_is_kept_in_its_place():
    snapshot = crowded()
    member = MemberView("reader", "m-1", "", ("topic-07000",), (("topic-07000", 0),), 0, 0)
    groups = list(snapshot.groups)
    groups[6_000] = msgspec.structs.replace(groups[6_000], members=(member,), topics=("topic-07000",))
    snapshot = msgspec.structs.replace(snapshot, groups=tuple(groups), actors=(producer("topic-09000"),))
    excerpt = thinned(snapshot, 10, "lane:topic-08000/0")
    assert [topic.name for topic in excerpt.snapshot.topics] == [
        *(f"topic-{at:05d}" for at in range(7)),
        "topic-07000",
        "topic-08000",
        "topic-09000",
    ]
    assert [group.name for group in excerpt.snapshot.groups] == [*(f"group-{at:05d}" for at in range(9)), "group-06000"]
    assert (excerpt.topics, excerpt.groups, excerpt.queues) == (MANY - 10, MANY - 10, 0)
    kept = thinned(snapshot, 10, "group:group-05000").snapshot.groups
    assert "group-05000" in {group.name for group in kept}


def test_the_same_snapshot_is_thinned_once():
    snapshot, drawn = crowded(100), Excerpts(10)
    assert drawn.of(snapshot, "") is drawn.of(snapshot, "")
    assert drawn.of(snapshot, "topic:topic-00099") is not drawn.of(snapshot, "")
    assert drawn.of(crowded(100), "") is not drawn.of(snapshot, "")


def test_the_picture_says_what_it_leaves_out():
    view = CanvasModel(Owners(), SessionSeries()).view(crowded())
    assert len(view.topics) == len(view.groups) == DRAWN_MAX
    assert [(rest.kind, rest.text) for rest in view.rests] == [
        ("topics", f"{MANY - DRAWN_MAX:,} more topics"),
        ("groups", f"{MANY - DRAWN_MAX:,} more groups"),
    ]
    assert CanvasModel(Owners(), SessionSeries()).view(crowded(5)).rests == ()


def test_the_navigator_counts_all_and_finds_each():
    model = NavigatorModel(SessionSeries())
    topics, groups, *_others = model.update(crowded())
    assert (len(topics.rows), topics.more) == (len(groups.rows), groups.more) == (ROWS_MAX, MANY - ROWS_MAX)
    assert model.set_filter("09999") == ""
    topics, groups, *_others = model.update(crowded())
    assert [row.name for row in (*topics.rows, *groups.rows)] == ["topic-09999", "group-09999"]
    assert (topics.more, groups.more, len(model.dimmed)) == (0, 0, 2 * MANY - 2)
    assert model.set_filter("kind = grup").startswith("kind is never grup; did you mean group?")
    model.set_filter("kind = group and lag > 1")
    topics, groups, *_others = model.update(crowded())
    assert (topics.rows, groups.more) == ((), MANY - ROWS_MAX)


@pytest.mark.parametrize("shown", ["canvas", "navigator", "assignments"])
def test_what_is_shown_costs_no_more_than_there_is(shown: str, qapp):
    few, many = crowded(500), crowded(2_000)

    def cost(snapshot: Snapshot) -> int:
        if shown == "canvas":
            return steps(lambda: CanvasModel(Owners(), SessionSeries()).view(snapshot))
        if shown == "navigator":
            return steps(lambda: NavigatorModel(SessionSeries()).update(snapshot))
        return steps(lambda: AssignmentsModel(Owners(), Times()).set_snapshot(snapshot))

    assert cost(many) < 1.4 * 4 * cost(few)


def test_members_of_other_programs_are_consumers_in_the_navigator():
    member = MemberView("mailer", "mailer-1", "", ("alerts",), (("alerts", 0),), 0, 0)
    view = GroupView("mailers", "Stable", 1, "range", "mailer-1", ("alerts",), (member,), (), 0)
    sections = {
        section.key: section for section in NavigatorModel(SessionSeries()).update(Snapshot(0, 0, groups=(view,)))
    }
    assert [(row.id, row.state) for row in sections["consumers"].rows] == [("consumer:mailer", "waiting")]
