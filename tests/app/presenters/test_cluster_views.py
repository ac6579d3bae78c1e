"""A cluster in the window: its brokers, and the topics that are drawn where there are many."""

from __future__ import annotations

from msgspec.structs import replace

from app.pages.scene import Scene, state_of
from app.presenters.brokers import BrokersPresenter, broker_rows, placed_words
from app.presenters.canvas import CanvasModel
from app.presenters.excerpt import DRAWN_MAX, LISTED_MAX, Excerpts
from app.presenters.inspector import inspector_facts, lag_told
from app.presenters.owners import Owners
from app.sessions.history.series import SessionSeries
from broker_core.clock import NS_PER_S
from broker_core.snapshots import (
    LEADERLESS,
    NOT_SEEN,
    UNDER_REPLICATED,
    GroupView,
    NodeView,
    OffsetView,
    PartitionView,
    Snapshot,
    TopicView,
)


def topic(number: int, leader: int = 1, in_sync: tuple[int, ...] = (1, 2, 3), published: int = 0) -> TopicView:
    part = PartitionView(0, 0, 9, 0, leader=leader, replicas=(1, 2, 3), in_sync=in_sync)
    return TopicView(f"topic-{number}", (part,), published, 0, None)


def cluster(count: int) -> Snapshot:
    nodes = (NodeView(1, "a:1", is_controller=True), NodeView(2, "b:1"), NodeView(3, "c:1", gone_ns=5, why="refused"))
    return Snapshot(NS_PER_S, 0, tuple(map(topic, range(count))), nodes=nodes)


def with_topic(snapshot: Snapshot, number: int, changed: TopicView, after_s: float = 1.0) -> Snapshot:
    topics = [*snapshot.topics]
    topics[number] = changed
    return replace(snapshot, topics=tuple(topics), time_ns=snapshot.time_ns + int(after_s * NS_PER_S))


def test_rows_count_what_each_node_leads_and_has():
    rows = broker_rows(with_topic(cluster(4), 0, topic(0, leader=2, in_sync=(1, 2))))
    assert [(row.view.node, row.leads, row.in_sync, row.replicas) for row in rows] == [
        (1, 3, 4, 4),
        (2, 1, 4, 4),
        (3, 0, 3, 4),
    ]


def test_where_a_partition_is_in_words():
    words = placed_words(topic(0, leader=-1, in_sync=(1,)).partitions[0], 2)
    assert words == "no leader; replicas 1, 2, 3; in sync 1, at least 2 wanted"
    assert placed_words(PartitionView(0, 0, 0, 0), 0) == ""


def test_what_is_broken_or_moves_is_drawn_and_the_rest_are_cells():
    snapshot, excerpts = cluster(400), Excerpts(DRAWN_MAX, has_map=True)
    excerpts.of(snapshot, "")
    snapshot = with_topic(snapshot, 390, topic(390, published=5))
    snapshot = with_topic(snapshot, 350, topic(350, in_sync=(1, 2)))
    snapshot = with_topic(snapshot, 360, topic(360, leader=3))
    found = excerpts.of(snapshot, "")
    drawn = [each.name for each in found.snapshot.topics]
    assert {"topic-350", "topic-360", "topic-390"} <= {*drawn}
    assert len(drawn) + len(found.cells) == 400
    assert drawn == [each.name for each in snapshot.topics if each.name in drawn], "each in its place"
    calm = excerpts.of(with_topic(snapshot, 7, topic(7, published=9)), "")
    assert [each.name for each in calm.snapshot.topics] == drawn, "they stay while nothing breaks"
    broken = excerpts.of(with_topic(snapshot, 8, topic(8, leader=-1)), "")
    assert "topic-8" in [each.name for each in broken.snapshot.topics]
    chosen = excerpts.of(with_topic(snapshot, 7, topic(7)), "topic:topic-200")
    assert "topic-200" in [each.name for each in chosen.snapshot.topics]


def test_a_cell_says_what_is_wrong():
    snapshot = cluster(400)
    for number in range(100):
        snapshot = with_topic(snapshot, number, topic(number, leader=3 if number < 50 else 1, in_sync=(1, 2)))
    cells = {cell.name: cell.state for cell in Excerpts(DRAWN_MAX, has_map=True).of(snapshot, "").cells}
    assert cells["topic-49"] == LEADERLESS
    assert cells["topic-99"] == UNDER_REPLICATED
    assert cells["topic-399"] == ""
    (rest,) = CanvasModel(Owners(), SessionSeries()).view(snapshot).rests
    assert rest.text == f"{len(cells)} more topics"
    assert rest.hint.endswith(" leaderless, 50 under-replicated"), "the worst first: the end may be cut"
    reader = OffsetView("topic-300", 0, "", None, 4, 9, 5, 1)
    behind = replace(snapshot, groups=(GroupView("billing", "Empty", 0, "", "", ("topic-300",), (), (reader,), 0),))
    (rest,) = CanvasModel(Owners(), SessionSeries()).view(behind).rests
    assert rest.text == f"{len(cells)} more topics, 1 behind"
    elsewhere = replace(behind.groups[0], offsets=(replace(reader, committed=None, lag=None),))
    (rest,) = CanvasModel(Owners(), SessionSeries()).view(replace(behind, groups=(elsewhere,))).rests
    assert {cell.lag for cell in rest.cells} == {None} and "behind" not in rest.text, "not known is not 0"


def test_groups_that_are_behind_have_cards_though_what_they_read_is_not_drawn():
    def group(number: int, lag: int) -> GroupView:
        at = OffsetView(f"topic-{number}", 0, "", None, 9 - lag, 9, lag, 1)
        return GroupView(f"group-{number}", "Empty", 0, "", "", (f"topic-{number}",), (), (at,), 0)

    snapshot = replace(cluster(400), groups=tuple(group(at, 5 if at == 300 else at % 3) for at in range(400)))
    snapshot = with_topic(snapshot, 8, topic(8, leader=-1))
    drawn = [group.name for group in Excerpts(DRAWN_MAX, has_map=True).of(snapshot, "").snapshot.groups]
    assert {"group-8", "group-300"} <= {*drawn}
    assert len(drawn) < 12


def test_a_lag_of_one_that_stands_may_be_a_marker():
    part, at = topic(0).partitions[0], OffsetView("topic-0", 0, "", None, 8, 9, 1, 60 * NS_PER_S)
    assert lag_told(topic(0), at).startswith("1 message (a transaction's marker may count)")
    own = replace(topic(0), partitions=(replace(part, leader=None),))
    for where, other in ((own, at), (topic(0), replace(at, lag=2)), (topic(0), replace(at, lag_ns=NS_PER_S))):
        assert "marker" not in lag_told(where, other)


def test_tables_list_each_topic_of_a_cluster():
    """What the canvas has no room for is no reason to leave it out of a table."""
    assert Excerpts(LISTED_MAX).of(cluster(400), "").is_whole


def test_the_panel_of_brokers_counts_what_no_table_lists(hand):
    views = hand.workbench.views
    hand.workbench.window.show_tab("brokers")
    views.snapshot = cluster(LISTED_MAX + 100)
    views._show_tab()
    shown = views.presenter(BrokersPresenter)
    assert [row.leads for row in shown.model.rows] == [LISTED_MAX + 100, 0, 0]
    assert shown.panel._note_text.startswith("Gone: node 3. Partitions: 0 leaderless")


def test_brokers_are_cards_at_the_edge_and_each_is_told():
    snapshot = cluster(400)
    cards = CanvasModel(Owners(), SessionSeries()).view(snapshot).nodes
    assert [(card.title, card.state, card.note) for card in cards] == [
        ("Broker 1", "Controller", "leads 400"),
        ("Broker 2", "Online", "leads 0"),
        ("Broker 3", "Gone", "leads 0"),
    ]
    told = inspector_facts(snapshot, cards[2].id, SessionSeries())
    assert told is not None and (told.name, told.state) == ("Broker 3", "Gone")
    assert ("Why", "refused") in told.sections[0][1]
    assert inspector_facts(snapshot, "node:9", SessionSeries()) is None


def test_a_page_draws_brokers_marks_partitions_and_keeps_the_names_of_groups():
    offset = OffsetView("topic-0", 0, "c", None, 3, 9, 6, None)
    snapshot = with_topic(cluster(2), 0, topic(0, leader=3))
    group = GroupView("billing", NOT_SEEN, -1, "", "", ("topic-0",), (), (offset,), 0)
    drawn = Scene().tree(CanvasModel(Owners(), SessionSeries()).view(replace(snapshot, groups=(group,))))["boxes"]
    assert [(box["name"], box["state"][2], box["note"]) for box in drawn.values() if box["kind"] == "node"] == [
        ("Broker 1", "Controller", "leads 1"),
        ("Broker 2", "Online", "leads 0"),
        ("Broker 3", "Gone", "leads 1"),
    ]
    (lane,), (calm,) = drawn["topic:topic-0"]["lanes"], drawn["topic:topic-1"]["lanes"]
    assert (lane["mark"], calm["mark"]) == (state_of(LEADERLESS), [])
    assert lane["placed"].startswith("leader 3; replicas 1, 2, 3")
    longest, *_others, shortest = drawn["group:billing"]["lags"]
    assert len(shortest) < len(longest), "beside a long state the name must not give way"


def test_what_fits_the_filter_is_drawn_first_at_once():
    snapshot, excerpts = cluster(400), Excerpts(DRAWN_MAX, has_map=True)
    before = {each.name for each in excerpts.of(snapshot, "").snapshot.topics}
    dimmed = frozenset(f"topic:topic-{number}" for number in range(400) if number != 377)
    drawn = excerpts.of(snapshot, "", dimmed).snapshot.topics
    assert "topic-377" not in before and drawn[-1].name == "topic-377"
    assert {each.name for each in excerpts.of(snapshot, "").snapshot.topics} == before
