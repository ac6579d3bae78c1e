"""What somebody may do, and which right an operation needs."""

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
    """`operation` on the resource that the request names in `field`: a name, several, or None for nothing to check.

    `kind` "topic or queue" is whichever has that name. For "broker" there is no field. Where the field `preview` of the
    request is true, nothing is changed, and READ is enough.
    """

    operation: Operation
    kind: ResourceKind | Literal["topic or queue"]
    field: str = ""
    preview: str = ""


class Visible(msgspec.Struct, frozen=True):
    """The result's list `field` holds only what the caller may read: resources of `kind`, named in their `name`."""

    field: str
    kind: ResourceKind
    name: str = "name"
