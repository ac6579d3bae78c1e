"""The parts of a report in the words of the window, which are the headings of its page."""

from __future__ import annotations

from collections.abc import Collection

from spark_reports.assertions import check
from spark_reports.errors import ReportError
from spark_reports.parts import IN_HISTORY, PARTS
from widgets.dialogs.export_report import PartChoice
from widgets.i18n import mark, tr

TITLES = {
    "throughput": mark("Throughput"),
    "latency": mark("Latency"),
    "lag": mark("Consumer lag"),
    "rebalances": mark("Rebalances and owners"),
    "consumers": mark("Groups and consumers"),
    "queues": mark("Queues and redeliveries"),
    "share-groups": mark("Share groups and subscriptions"),
    "transactions": mark("Transactions"),
    "dead-letters": mark("Dead letters"),
    "backpressure": mark("Backpressure"),
    "schemas": mark("Schema refusals"),
    "keys": mark("Keys and partitions"),
    "events": mark("Faults and user actions"),
    "audit": mark("Delivery audit"),
    "recording": mark("Gaps in the recording"),
    "totals": mark("Totals and reconciliation"),
}


def why_no_assertions(assertions: Collection[str], parts: Collection[str]) -> str:
    """What is wrong with what is asserted, in one sentence; "" if nothing is."""
    try:
        check(assertions, parts)
    except ReportError as error:
        return str(error)
    return ""


def part_choices() -> list[PartChoice]:
    return [PartChoice(name, tr(TITLES[name]), name in IN_HISTORY) for name in PARTS]
