from __future__ import annotations

import msgspec

from broker_core.broker.occurrences import FIELDS, only_state
from broker_core.filters import FilterError, parse
from broker_core.settings import NotNegativeNumber

MAX_NAME = 80


class Alert(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`when` asks named things, as in `lag("billing") > 100`; it must hold for `for_s` seconds of session time.

    Raises ValueError for a condition that cannot be read, or that needs an event.
    """

    name: str
    when: str
    for_s: NotNegativeNumber = 0.0

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > MAX_NAME:
            raise ValueError(f"the name of an alert has 1 to {MAX_NAME} characters")
        try:
            condition = parse(self.when, FIELDS)
        except FilterError as error:
            raise ValueError(str(error)) from error
        if condition.takes_all or not only_state(condition):
            raise ValueError('an alert asks things by their names, as in lag("billing") > 100')

    @property
    def sentence(self) -> str:
        return f"{self.when} for {self.for_s:g} s" if self.for_s else self.when
