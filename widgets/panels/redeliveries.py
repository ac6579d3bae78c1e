"""Messages that were delivered to the same reader more than once."""

from __future__ import annotations

from widgets.panels.panel import PanelInfo
from widgets.panels.table_panel import TablePanel


class RedeliveriesPanel(TablePanel):
    info = PanelInfo(
        "redeliveries",
        "Delivered twice",
        "redo",
        "Messages that a reader was given more than once: to whom, when, and why.",
        "Every delivery of a message that its reader (a group or a queue) **had been given before**: to whom now, "
        "to whom before, how long after, and what lay between.\n\n"
        "**Delivered again** is what was acknowledged before, or what a member left behind that is gone. "
        "**Fetched again** is what a client only fetched once more, after a seek or a pause, or since it had "
        "discarded it.\n\n"
        "- **Nacked**, **Lease expired**, **Released**: the message came back to its queue.\n"
        "- **Rebalance completed**: a consumer was given messages and left, or lost the partition, before its "
        "offsets were committed.\n"
        "- **Offsets reset**: somebody sent the group back.\n\n"
        "A row chosen is shown in the inspector with the whole life of the message; Enter opens *Messages* there. "
        "Filter them as in `reader = builds and why = nacked`.",
        group="Groups",
        empty="No message was delivered twice.",
        how="A message is delivered again after a nack or an expired lease, after a crash or a rebalance "
        "before its commit, and after a reset of offsets.",
        filter_hint="Filter: words, reader = builds, why = nacked",
    )
