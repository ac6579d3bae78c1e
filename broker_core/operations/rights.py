"""Rights: the operations that a rule allows, and the right that a request needs."""

from __future__ import annotations

import enum
from typing import Literal

import msgspec

ResourceKind = Literal["topic", "queue", "group", "subject", "transactional_id", "broker"]


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
    """The list `field` of the result is filtered by the right to read its elements: resources of `kind` by `name`."""

    field: str
    kind: ResourceKind
    name: str = "name"
