"""What the page says of a view, where the window draws it."""

from dataclasses import replace

import pytest

from app.pages.scene import Scene
from tests.widgets.canvas.sample_views import first_view
from widgets.canvas.view import LeaseRing

LEASES = tuple(LeaseRing(f"m{number}", 0.5) for number in range(20))


@pytest.mark.parametrize(
    ("in_flight", "leases", "words"),
    [
        (0, (), "Nothing in flight."),
        (5, (), ""),  # leases that nobody has listed
        (5, LEASES[:5], ""),
        (20, LEASES, "+8"),
    ],
)
def test_what_stands_behind_the_rings_agrees_with_the_figure_beside_them(qapp, in_flight, leases, words):
    view = first_view()
    queue = replace(view.queues[0], in_flight=in_flight, leases=leases)
    box = Scene().tree(replace(view, queues=(queue,)))["boxes"][queue.id]
    assert box["figures"][2]["count"] == str(in_flight)
    assert box["rest"] == words
