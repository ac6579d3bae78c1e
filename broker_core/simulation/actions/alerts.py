from __future__ import annotations

from broker_core.settings import NotNegativeNumber
from broker_core.simulation.actions.action import Action
from broker_core.simulation.alert import Alert


class SetAlert(Action, frozen=True, tag="set_alert"):
    """Watch for the condition `when` under a name; see `Alert`. One of the same name is replaced."""

    name: str
    when: str
    for_s: NotNegativeNumber = 0.0

    def __post_init__(self) -> None:
        self.alert()

    def alert(self) -> Alert:
        """What is watched for. Raises ValueError."""
        return Alert(name=self.name, when=self.when, for_s=self.for_s)

    @property
    def sentence(self) -> str:
        return f"set the alert {self.name}: {self.alert().sentence}"


class RemoveAlert(Action, frozen=True, tag="remove_alert"):
    says = "removed the alert {name}"

    name: str
