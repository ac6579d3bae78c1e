from __future__ import annotations

from typing import NamedTuple

from widgets.i18n import mark, tr


class StateStyle(NamedTuple):
    """A colour token of `Theme` (its soft fill is `token + "_soft"`), an icon name, and the word to show."""

    token: str
    icon: str
    word: str


STATE_STYLES: dict[str, StateStyle] = {
    style.word.lower(): style
    for style in (
        # groups
        StateStyle("stable", "stable", "Stable"),
        StateStyle("rebalancing", "rebalancing", "Preparing rebalance"),
        StateStyle("rebalancing", "rebalancing", "Completing rebalance"),
        StateStyle("rebalancing", "rebalancing", "Rebalancing"),
        StateStyle("rebalancing", "rebalancing", "Reconciling"),
        StateStyle("idle", "empty", "Empty"),
        StateStyle("failure", "warning", "Not seen"),
        StateStyle("failure", "dead", "Dead"),
        # actors
        StateStyle("idle", "idle", "Idle"),
        StateStyle("stable", "running", "Running"),
        StateStyle("active", "processing", "Processing"),
        StateStyle("idle", "waiting", "Waiting"),
        StateStyle("failure", "blocked", "Blocked"),
        StateStyle("rebalancing", "joining", "Joining"),
        StateStyle("idle", "paused", "Paused"),
        StateStyle("failure", "crashed", "Crashed"),
        StateStyle("idle", "stopped", "Stopped"),
        # transactions
        StateStyle("active", "processing", "Ongoing"),
        # faults that last
        StateStyle("failure", "warning", "Fault"),
        StateStyle("rebalancing", "clock", "Slowed down"),
        StateStyle("rebalancing", "warning", "No heartbeats"),
        StateStyle("rebalancing", "filter", "Failing"),
        StateStyle("failure", "layers", "Disk full"),
        # lag
        StateStyle("lag_up", "lag-up", "Rising"),
        StateStyle("lag_down", "lag-down", "Falling"),
        StateStyle("idle", "steady", "Steady"),
        # gates
        StateStyle("stable", "stable", "Open"),
        StateStyle("rebalancing", "waiting", "Limited"),
        StateStyle("failure", "blocked", "Full"),
        # messages
        StateStyle("idle", "layers", "Ready"),
        StateStyle("idle", "waiting", "Delayed"),
        StateStyle("active", "processing", "In flight"),
        StateStyle("rebalancing", "warning", "Expiring"),
        StateStyle("failure", "dead-letter", "Dead letter"),
        StateStyle("stable", "redrive", "Redriven"),
        # events of messages
        StateStyle("idle", "message", "Published"),
        StateStyle("active", "processing", "Delivered"),
        StateStyle("stable", "check", "Acknowledged"),
        StateStyle("rebalancing", "undo", "Nacked"),
        StateStyle("idle", "undo", "Released"),
        StateStyle("idle", "clock", "Lease extended"),
        StateStyle("rebalancing", "clock", "Lease expired"),
        StateStyle("failure", "dead-letter", "Dead-lettered"),
        StateStyle("failure", "close", "Purged"),
        StateStyle("idle", "undo", "Withdrawn"),
        StateStyle("failure", "blocked", "Rejected"),
        StateStyle("failure", "warning", "Dropped"),
        StateStyle("failure", "warning", "Evicted"),
        StateStyle("rebalancing", "clock", "Expired"),
        # other events
        StateStyle("rebalancing", "rebalancing", "Rebalance started"),
        StateStyle("rebalancing", "move", "Partitions revoked"),
        StateStyle("stable", "assignments", "Partitions assigned"),
        StateStyle("stable", "stable", "Rebalance completed"),
        StateStyle("active", "processing", "Transaction started"),
        StateStyle("stable", "check", "Transaction ended"),
        StateStyle("failure", "blocked", "Producer blocked"),
        StateStyle("stable", "producer", "Producer unblocked"),
        StateStyle("failure", "warning", "Fault"),
        StateStyle("failure", "warning", "Corruption"),
        StateStyle("failure", "warning", "Alert"),
        StateStyle("stable", "check", "Alert over"),
        StateStyle("active", "command", "My action"),
        StateStyle("idle", "clock", "Scheduled"),
        StateStyle("rebalancing", "undo", "Offsets reset"),
        StateStyle("idle", "redo", "Read again"),
        # segments
        StateStyle("active", "record", "Active"),
        StateStyle("idle", "stable", "Sealed"),
        StateStyle("idle", "fit", "Compacted"),
        # what the window shows
        StateStyle("stable", "running", "Live"),
        StateStyle("replay", "clock", "Replay"),
        StateStyle("branch", "branch", "Branch"),
        # jobs
        StateStyle("stable", "stable", "Done"),
        StateStyle("failure", "crashed", "Failed"),
        StateStyle("idle", "stopped", "Cancelled"),
    )
}


# A state whose English word is also that of a button: other languages have two words for it.
_APART = {"Open": mark("open")}


def state_style(word: str) -> StateStyle:
    """The style of a state word in any case, the word in the language of the program.

    An unknown word is shown as it is, in the neutral colour.
    """
    style = STATE_STYLES.get(word.strip().lower())
    if style is None:
        return StateStyle("idle", "info", word)
    shown = tr(_APART.get(style.word, style.word))
    return style._replace(word=f"{shown[:1].upper()}{shown[1:]}")
