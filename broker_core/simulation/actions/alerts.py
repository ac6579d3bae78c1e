from __future__ import annotations

from broker_core.simulation.actions.action import Action
from broker_core.simulation.alert_watch import Alert


class SetAlert(Alert, Action, frozen=True, tag="set_alert"):
    """Sets an alert, in place of one of the same name."""

    says = "set the alert {name}: {condition}"


class RemoveAlert(Action, frozen=True, tag="remove_alert"):
    says = "removed the alert {name}"

    name: str
