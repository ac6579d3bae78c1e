"""One entry of the catalogue: everything about an operation that is not its arguments."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from broker_core.operations.request import Request, result_type
from broker_core.operations.rights import Right, Visible

Mode = Literal["now", "parked", "slow"]
Saved = Literal["nothing", "catalog", "offsets"]
ServedBy = Literal["broker", "listener"]


class Entry(msgspec.Struct, frozen=True):
    """How an operation is called, what it needs, and what it promises.

    `mode`: "now" takes a moment, "slow" may wait for the disk or think for a while, "parked" is answered when something
    happens. `saved` is what is on the disk before the reply: of "catalog" all that was created, of "offsets" all that
    groups have committed. `served_by` "listener" is what only a listener knows, as its connections and its members, or
    a hot path, which is a direct call in process: a host does not take it.

    `route` is HTTP's method and path, with fields of the request in braces. The other fields are the query of GET and
    DELETE, else the body; `body` names the one field that is the whole body; `renamed` holds (field, its name in the
    body). `errors` are statuses beside those that every operation of its form may have. `repeatable` says that asking
    again, after a reply that got lost, does no harm; what only looks always is.
    """

    request: type[Request[Any]]
    route: str
    title: str
    tag: str
    rights: tuple[Right, ...]
    details: str = ""
    mode: Mode = "now"
    saved: Saved = "nothing"
    served_by: ServedBy = "broker"
    visible: Visible | None = None
    repeatable: bool = False
    created: bool = False
    errors: tuple[int, ...] = ()
    body: str = ""
    renamed: tuple[tuple[str, str], ...] = ()
    called: str = ""

    @property
    def verb(self) -> str:
        """HTTP's method."""
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        """HTTP's path."""
        return self.route.partition(" ")[2]

    @property
    def name(self) -> str:
        """Its name in OpenAPI: `create_topic` for CreateTopic, unless it is `called` otherwise."""
        return self.called or re.sub(r"(?<!^)(?=[A-Z])", "_", self.request.__name__).lower()

    @property
    def result(self) -> Any:
        """The type of its result; None where there is none."""
        return result_type(self.request)

    @property
    def status(self) -> int:
        """HTTP's status of success: 201 for what is `created`, 204 for no result."""
        return 204 if self.result is None else 201 if self.created else 200

    @property
    def help(self) -> str:
        """What it does, in sentences."""
        return f"{self.title}. {self.details}".rstrip()

    @property
    def is_repeatable(self) -> bool:
        """Whether a client may ask again by itself."""
        return self.repeatable or self.verb == "GET"
