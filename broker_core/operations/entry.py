"""An entry of the catalogue: all that is declared of an operation beside its arguments."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import msgspec

from broker_core.access import ResourceKind
from broker_core.operations.request import Request, result_type

R = TypeVar("R", bound=type[Request[Any]])


class Operation(enum.StrEnum):
    """Read, write, or administer: create, delete, configure, reset, redrive, purge."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


READ, WRITE, ADMIN = Operation.READ, Operation.WRITE, Operation.ADMIN


class Right(msgspec.Struct, frozen=True):
    """The right to do `operation` on the resource that `field` of the request names: one, several, or None.

    `kind` "topic or queue" means the one that has the name; "broker" has no field. If the field `preview` of the
    request is true, nothing is changed, and READ suffices.
    """

    operation: Operation
    kind: ResourceKind | Literal["topic or queue"]
    field: str = ""
    preview: str = ""


class Visible(msgspec.Struct, frozen=True):
    """The result, or the list `field` of it, is filtered by the right to read its elements: resources of `kind` by
    `name`.
    """

    kind: ResourceKind
    name: str = "name"
    field: str = ""


Mode = Literal["now", "parked", "slow"]
Saved = Literal["nothing", "catalog", "offsets", "catalog and offsets"]
ServedBy = Literal["broker", "listener"]


class Entry(msgspec.Struct, frozen=True):
    """An operation: its request, its route, the rights it needs, and how it is answered.

    `mode`: "now" is answered at once, "slow" may wait for the disk or compute for long, "parked" is answered when
    something happens. `saved` is on the disk before the reply: "catalog", all that was created, or "offsets", all that
    groups have committed. `served_by` "listener" is for what only a listener knows, such as its connections, and for
    hot paths, which are direct calls in process; a host refuses these.

    `route` is HTTP's method and path, with fields of the request in braces. The other fields are the query of GET and
    DELETE, else the body; `body` names the one field that is the whole body; `renamed` holds (field, its name in the
    body). `errors` are statuses beside those that every route of its form has. A `repeatable` request may be sent
    again when its reply was lost; every GET may.
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
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.route.partition(" ")[2]

    @property
    def name(self) -> str:
        """Its name in OpenAPI: `create_topic` for CreateTopic, unless it is `called` otherwise."""
        return self.called or re.sub(r"(?<!^)(?=[A-Z])", "_", self.request.__name__).lower()

    @property
    def result(self) -> Any:
        return result_type(self.request)

    @property
    def status(self) -> int:
        """HTTP's status of success: 201 for what is `created`, 204 for no result."""
        return 204 if self.result is None else 201 if self.created else 200

    @property
    def help(self) -> str:
        return f"{self.title}. {self.details}".rstrip()

    def only_asks(self, request: Request[Any]) -> bool:
        """Whether `request` changes nothing: it is answered at once, and reading or a preview is all it needs."""
        reads = all(
            right.operation is Operation.READ or (right.preview and getattr(request, right.preview))
            for right in self.rights
        )
        return reads and self.served_by == "broker" and self.mode != "parked"

    @property
    def is_repeatable(self) -> bool:
        return self.repeatable or self.verb == "GET"


#: Of the entry of a list, of which everybody gets what they may read.
LISTED: dict[str, Any] = {"rights": (), "details": "Only those that the caller may read."}


def declaring(entries: list[Entry], **usual: Any) -> Callable[..., Callable[[R], R]]:
    """A decorator of requests: `(route, title, **more)` adds an entry to `entries`, otherwise with what is `usual`."""

    def declaration(route: str, title: str, **more: Any) -> Callable[[R], R]:
        def declare(request: R) -> R:
            entries.append(Entry(request, route, title, **{**usual, **more}))
            return request

        return declare

    return declaration
