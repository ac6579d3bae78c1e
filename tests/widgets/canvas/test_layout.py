"""The layout: nothing overlaps, links keep to the gaps, and counts move nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.long_form import examples
from tests.widgets.canvas.sample_views import first_view, wide_view
from widgets.canvas.geometry import Rect
from widgets.canvas.lane_painter import nice_scale
from widgets.canvas.layout import (
    CARD_LIMIT,
    Arrangement,
    Layout,
    best_arrangement,
    card_columns,
    lay_out,
    layout_key,
    topic_height,
)
from widgets.canvas.ports import WORD_H, WORD_W, point_at, word_places
from widgets.canvas.view import (
    BENCH_ID,
    CanvasView,
    ConsumerCard,
    GroupBox,
    Lane,
    LaneGroup,
    Link,
    NodeCard,
    ProducerCard,
    QueueBox,
    TopicBox,
    WorkerCard,
)


def crosses(one: Rect, other: Rect) -> bool:
    return one.x < other.right and other.x < one.right and one.y < other.bottom and other.y < one.bottom


def inside(inner: Rect, outer: Rect) -> bool:
    return outer.x <= inner.x and outer.y <= inner.y and inner.right <= outer.right and inner.bottom <= outer.bottom


def check(layout: Layout) -> None:
    boxes = {name: rect for name, rect in layout.rects.items() if name not in layout.container}
    for (one, first), (other, second) in combinations(boxes.items(), 2):
        assert not crosses(first, second), (one, other)
    cards = {name: layout.rects[name] for name in layout.container}
    for name, card in cards.items():
        assert inside(card, boxes[layout.container[name]]), name
    for (one, first), (other, second) in combinations(cards.items(), 2):
        assert not crosses(first, second), (one, other)
    for path in layout.links.values():
        for at in range(1, 40):
            x, y = point_at(path, at / 40)
            assert not any(rect.grown(-0.5).holds(x, y) for rect in boxes.values()), path
    assert sorted(layout.order) == sorted(layout.rects)
    assert all(inside(rect, layout.bounds) for rect in layout.rects.values())


@st.composite
def views(draw: st.DrawFn) -> CanvasView:
    topics = tuple(
        TopicBox(f"t{at}", tuple(Lane(n, groups=(LaneGroup("g0"),) * groups) for n in range(lanes)))
        for at, (lanes, groups) in enumerate(
            draw(st.lists(st.tuples(st.integers(0, 120), st.integers(0, 5)), max_size=4))
        )
    )
    sizes = draw(st.lists(st.integers(0, 30), max_size=4))
    groups = tuple(
        GroupBox(f"g{at}", members=tuple(ConsumerCard(f"c{at}-{n}") for n in range(size)))
        for at, size in enumerate(sizes)
    )
    queues = tuple(
        QueueBox(f"q{at}", workers=tuple(WorkerCard(f"w{at}-{n}") for n in range(size)))
        for at, size in enumerate(draw(st.lists(st.integers(0, 14), max_size=3)))
    )
    producers = tuple(ProducerCard(f"p{at}") for at in range(draw(st.integers(0, 6))))
    bench = tuple(ConsumerCard(f"b{at}") for at in range(draw(st.integers(0, 20))))
    sources = [p.id for p in producers] + [t.id for t in topics] + [q.id for q in queues] + ["no:where"]
    targets = [t.id for t in topics] + [g.id for g in groups] + [q.id for q in queues]
    targets += [q.workers_id for q in queues] + [q.dead_letters_id for q in queues] + ["consumer:c0-0", "bench"]
    pairs = draw(st.lists(st.tuples(st.sampled_from(sources), st.sampled_from(targets)), max_size=12, unique=True))
    links = tuple(Link(a, b, "dead-letter" if b.startswith("dlq") else "publish") for a, b in pairs)
    return CanvasView(producers, topics, groups, bench, queues, links)


@settings(max_examples=examples(60))
@given(views(), st.builds(Arrangement, st.integers(1, 3), st.booleans(), st.booleans()))
def test_nothing_overlaps_and_links_keep_to_the_gaps(view: CanvasView, arrangement: Arrangement) -> None:
    check(lay_out(view, arrangement))


@pytest.mark.parametrize("view", [CanvasView(), first_view(), wide_view(), wide_view(partitions=1, consumers=1)])
def test_samples_are_sound(view: CanvasView) -> None:
    check(lay_out(view))


def test_every_link_of_the_first_view_is_drawn() -> None:
    view = first_view()
    assert set(lay_out(view).links) == {link.key for link in view.links}


def test_lines_from_a_topic_to_queues_of_subscriptions_pass_their_left_sides_one_beside_the_other() -> None:
    view = first_view()
    topic, queues = view.topics[0], tuple(QueueBox(name) for name in ("stock", "mailer"))
    links = tuple(Link(topic.id, queue.id, "consume") for queue in queues)
    layout = lay_out(replace(view, queues=queues, links=links))
    near, far = (point_at(layout.links[link.key], 0.5)[0] for link in links)
    assert layout.rects[view.producers[0].id].right < far < near < layout.rects[topic.id].x


def test_counts_states_and_rates_do_not_move_anything() -> None:
    view = first_view()
    busy = replace(
        first_view(shift=9_999_999),
        groups=tuple(replace(group, state="Preparing rebalance", lag=10**9) for group in view.groups),
        queues=tuple(replace(queue, ready=10**9, leases=(), in_flight=0) for queue in view.queues),
    )
    assert layout_key(view) == layout_key(busy)
    assert layout_key(view) != layout_key(replace(view, bench=()))


def test_a_group_box_grows_with_its_members_and_others_keep_their_column() -> None:
    view = first_view()
    more = replace(view.groups[0], members=(*view.groups[0].members, view.bench[0]))
    before, after = lay_out(view), lay_out(replace(view, groups=(more, *view.groups[1:]), bench=()))
    assert after.rects["group:indexers"].h > before.rects["group:indexers"].h
    assert after.rects["topic:commits"] == before.rects["topic:commits"]
    assert {rect.x for rect in after.rects.values()} <= {rect.x for rect in before.rects.values()}


def test_wide_ground_gets_a_wider_and_lower_arrangement() -> None:
    view = first_view()
    high, wide = best_arrangement(view, 900, 900, 1.0), best_arrangement(view, 1275, 510, 1.0)
    assert high.min_columns == 1 and wide.min_columns > 1
    assert lay_out(view, wide).bounds.h < lay_out(view, high).bounds.h
    assert best_arrangement(CanvasView(), 100, 100, 1.0) == Arrangement()


def test_the_bench_stands_where_the_picture_gets_largest() -> None:
    view = CanvasView(topics=first_view().topics[:1], groups=first_view().groups, bench=first_view().bench)
    assert not best_arrangement(replace(view, groups=view.groups[:1]), 2400, 300, 2.0).bench_below
    below = best_arrangement(view, 1000, 900, 2.0)
    assert below.bench_below
    rects = lay_out(view, below).rects
    assert rects[BENCH_ID].x == rects["topic:commits"].x, "the topics end higher up than the groups"
    assert rects[BENCH_ID].y >= rects["topic:commits"].bottom
    alone = lay_out(replace(view, topics=()), below).rects
    assert alone[BENCH_ID].x == alone["group:indexers"].x
    assert alone[BENCH_ID].y >= alone[view.groups[-1].id].bottom


def test_a_cluster_that_is_only_looked_at_has_no_bench() -> None:
    drawn = replace(first_view(), bench=(), has_bench=False)
    assert BENCH_ID in lay_out(first_view()).rects and BENCH_ID not in lay_out(drawn).rects
    assert layout_key(drawn) != layout_key(replace(drawn, has_bench=True))


def test_dead_letters_of_many_queues_stand_beside_them_where_that_shows_more() -> None:
    queues = tuple(QueueBox(f"q{at}", workers=(WorkerCard(f"w{at}"),)) for at in range(5))
    links = tuple(Link(queue.id, queue.dead_letters_id, "dead-letter") for queue in queues)
    view = CanvasView(queues=queues, links=links)
    low = best_arrangement(view, 950, 560, 2.0)
    assert low.letters_beside and not best_arrangement(view, 950, 5_000, 2.0).letters_beside
    layout = lay_out(view, low)
    for queue in queues:
        letters, workers = layout.rects[queue.dead_letters_id], layout.rects[queue.workers_id]
        assert (letters.x, letters.w) == (workers.x, workers.w) and letters.y >= workers.bottom
    assert len(layout.links) == len(links)
    assert layout.bounds.h < 0.9 * lay_out(view, replace(low, letters_beside=False)).bounds.h


def test_an_arrangement_stays_while_another_would_show_little_more() -> None:
    view = first_view()
    best = best_arrangement(view, 1275, 510, 2.0)
    near = Arrangement(best.min_columns + 1, best.bench_below)
    scales = [min(1275 / bounds.w, 510 / bounds.h) for bounds in (lay_out(view, one).bounds for one in (best, near))]
    assert scales[1] >= 0.85 * scales[0]
    assert best_arrangement(view, 1275, 510, 2.0, near) == near
    assert best_arrangement(view, 300, 3000, 2.0, near) != near


def test_a_crowd_past_the_limit_is_counted_not_drawn() -> None:
    excerpt = tuple(ConsumerCard(f"c{at}") for at in range(500))
    layout = lay_out(CanvasView(groups=(GroupBox("g", members=excerpt),)))
    assert layout.hidden == {"group:g": 500 - len(layout.container)}
    assert len(layout.container) == CARD_LIMIT - 1
    check(layout)


def test_a_thousand_partitions_take_no_more_room_than_two_hundred() -> None:
    def topic(lanes: int) -> TopicBox:
        return TopicBox("t", tuple(Lane(at, groups=(LaneGroup("g"),)) for at in range(lanes)))

    assert topic_height(topic(1000)) == topic_height(topic(200))
    assert topic_height(topic(25)) < topic_height(topic(24))
    assert card_columns(1) == 1 and card_columns(50) > card_columns(10) >= 2


def test_words_of_blocked_links_do_not_meet() -> None:
    view = wide_view()
    layout = lay_out(view)
    places = word_places([layout.links[link.key] for link in view.links if link.source == "topic:commits"])
    for (x, y), (other_x, other_y) in combinations(places, 2):
        assert abs(x - other_x) >= WORD_W or abs(y - other_y) >= WORD_H


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_the_scale_of_a_track_holds_the_largest_lag_and_is_not_wasteful(lag: int, before: int) -> None:
    scale = nice_scale(lag, nice_scale(before, 0))
    assert scale >= lag
    assert scale <= max(20, lag * 1.15) / 0.3 + 1


def test_the_scale_stays_while_lag_wobbles() -> None:
    scale = nice_scale(150, 0)
    assert nice_scale(120, scale) == nice_scale(90, scale) == scale
    assert nice_scale(10_000, scale) > scale and nice_scale(1, scale) < scale


@pytest.mark.parametrize("count", [3, 8, 30])
def test_brokers_stand_at_the_edge_beside_nothing_else(count: int):
    view = replace(first_view(), nodes=tuple(NodeCard(str(node), "Online") for node in range(count)))
    layout = lay_out(view)
    check(layout)
    nodes = [layout.rects[card.id] for card in view.nodes]
    others = [where for name, where in layout.rects.items() if not name.startswith("node:")]
    assert max(where.right for where in nodes) < min(where.x for where in others)
    assert layout.order[:count] == [card.id for card in view.nodes]
