"""The words of a session's page that stand still: its buttons, titles and sentences."""

from __future__ import annotations

from widgets.i18n import tr


def words() -> dict[str, str]:
    """By the name that the page's script and template know each by."""
    return {
        "language": tr("en"),
        "play": tr("Play"),
        "pause": tr("Pause"),
        "speed": tr("Speed"),
        "back": tr("1 s back"),
        "on": tr("1 s on"),
        "previous": tr("Previous event"),
        "next": tr("Next event"),
        "theme": tr("Light or dark"),
        "copy": tr("Copy a link to this moment"),
        "copied": tr("Copied: {link}"),
        "state_of": tr("figures of {clock}"),
        "figures": tr("Figures"),
        "events": tr("Events"),
        "rebalances": tr("Rebalances"),
        "charts": tr("Charts"),
        "canvas": tr("Producers, topics, groups and queues at this moment"),
        "timeline": tr("Timeline"),
        "select": tr("Select what is drawn (a group, a consumer, a partition) to see its figures at this moment."),
        "not_here": tr("It is not there at this moment."),
        "in_second": tr("In this second"),
        "around": tr("Events around this moment"),
        "no_events": tr("No event so far."),
        "all_events": tr("All events"),
        "its_events": tr("Only of {name}"),
        "no_rebalance": tr("No rebalance so far."),
        "moved": tr("{count} moved"),
        "kept": tr("{count} kept"),
        "nobody": tr("nobody"),
        "and_more": tr("and {count} more"),
        "end": tr("end"),
        "clear": tr("Clear the selection"),
        "published": tr("Messages/s"),
        "keys": tr(
            "Space plays; Left and Right go by a second, with Shift by ten, with Ctrl by an event; Home and End go to "
            "the ends; Tab goes through what is drawn, Up and Down through partitions."
        ),
        "broken": tr("This page could not be drawn: {error}."),
        "not_whole": tr("This recording is not whole."),
        "went_on": tr("The session went on when this page was made."),
        "needs_script": tr("This page needs JavaScript; all of it is in the page, and nothing is loaded."),
        "made_with": tr("Charts by Apache ECharts (Apache License 2.0). This page loads nothing from anywhere."),
        "no_chart": tr("There is nothing to chart."),
    }
