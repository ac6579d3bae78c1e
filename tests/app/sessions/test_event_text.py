"""Events in words."""

import pytest

from app.sessions.event_text import KINDS, event_line
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            Event(
                1234,
                int(114.69 * NS_PER_S),
                EventKind.NACKED,
                "builds",
                0,
                4321,
                1,
                group="builds",
                client="builder-1",
                attempt=2,
                cause="poison",
            ),
            "#1,234 01:54.690 Nacked builds/0 at 4,321 builder-1 (attempt 2; poison)",
        ),
        (
            Event(
                *(7, NS_PER_S, EventKind.REBALANCE_COMPLETED, ""),
                group="mailers",
                generation=1,
                cause="mailer-1 joined",
                detail={"before": [], "after": [["mails", 0, "mailer-1"], ["mails", 1, "mailer-1"]], "started_ns": 0},
            ),
            "#7 00:01.000 Rebalance completed mailers (mailer-1 joined; generation 1; "
            "after mails/0 mailer-1, mails/1 mailer-1; started 00:00.000)",
        ),
        (Event(0, 0, EventKind.SESSION_STARTED), "#0 00:00.000 Session started"),
    ],
)
def test_an_event_is_one_line_in_the_words_of_the_window(event: Event, line: str) -> None:
    assert event_line(event) == line


def test_every_kind_of_event_has_its_line_in_the_table() -> None:
    assert set(KINDS) == set(EventKind)
