from __future__ import annotations

from typing import NamedTuple

from broker_core.events import Event, EventKind
from broker_core.simulation.alert_watch import Alert
from broker_core.simulation.scenario import Scenario


class Raised(NamedTuple):
    name: str
    when: str
    time_ns: int


class AlertCollector:
    """A sink of the event stream; called by the engine's thread, read by the window's."""

    def __init__(self, scenario: Scenario | None = None) -> None:
        alerts = () if scenario is None else scenario.alerts
        self.alerts: dict[str, Alert] = {alert.name: alert for alert in alerts}
        self.raised: list[Raised] = []
        self.lasting: frozenset[str] = frozenset()
        self.corrupt: list[Event] = []
        self.over_ns: dict[str, int] = {}  # when each was over for the last time

    kinds = frozenset({EventKind.ALERT_RAISED, EventKind.ALERT_OVER, EventKind.DAMAGE, EventKind.USER_ACTION})

    def __call__(self, event: Event) -> None:
        detail = event.detail or {}
        match event.kind:
            case EventKind.ALERT_RAISED:
                alert = Alert(name=event.cause, when=detail["when"], for_s=detail["for_s"])
                self.raised.append(Raised(event.cause, alert.condition, event.time_ns))
                self.lasting |= {event.cause}
            case EventKind.ALERT_OVER:
                self.over_ns[event.cause] = event.time_ns
                self.lasting -= {event.cause}
            case EventKind.DAMAGE:
                self.corrupt.append(event)
            case EventKind.USER_ACTION if detail.get("action") == "set_alert":
                name, for_s = detail["name"], detail.get("for_s", 0.0)
                self.alerts[name] = Alert(name=name, when=detail["when"], for_s=for_s)
            case EventKind.USER_ACTION if detail.get("action") == "remove_alert":
                self.alerts.pop(detail["name"], None)
