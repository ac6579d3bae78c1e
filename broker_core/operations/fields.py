from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from broker_core.limits import MAX_PARTITIONS, MAX_TTL_MS, MAX_WAIT_MS
from broker_core.names import SUBJECT_PATTERN

MAX_INT = (1 << 53) - 1  # the largest whole number that every JSON reader keeps exact

# As `broker_core.names.check_name` has it: with the names that a file system reserves.
_DEVICES = "[cC][oO][nN]|[pP][rR][nN]|[aA][uU][xX]|[nN][uU][lL]|[cC][oO][mM][1-9]|[lL][pP][tT][1-9]"
NAME_PATTERN = rf"^(?!({_DEVICES})(\.|$))[a-zA-Z0-9._-]{{0,248}}[a-zA-Z0-9_-]$(?!\n)"

Name = Annotated[str, Meta(pattern=NAME_PATTERN, max_length=249, examples=["orders"])]
Subject = Annotated[str, Meta(pattern=SUBJECT_PATTERN, max_length=249, examples=["orders-value"])]
# Room for the ending of a dead-letter queue's name.
NewName = Annotated[str, Meta(pattern=NAME_PATTERN.replace("248", "240"), max_length=241, examples=["orders"])]
Version = Annotated[int, Meta(ge=1, le=1_000_000)]
Number = Annotated[int, Meta(ge=0, le=MAX_INT)]
Client = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9._@:-]{0,100}$(?!\n)")]
Offset = Annotated[int, Meta(ge=0, le=MAX_INT)]
Count = Annotated[int, Meta(ge=0, le=MAX_INT)]
Signed = Annotated[int, Meta(ge=-MAX_INT, le=MAX_INT)]
Partition = Annotated[int, Meta(ge=0, le=MAX_PARTITIONS - 1)]
PartitionName = Annotated[str, Meta(pattern=r"^(0|[1-9][0-9]{0,3})$(?!\n)")]  # a key of a JSON object
MaxMessages = Annotated[int, Meta(ge=1, le=10_000)]
Encoding = Literal["text", "base64"]
Cause = Annotated[str, Meta(max_length=500)]


JsonValue = Any  # any JSON value: text as it is, everything else as JSON

PartitionCount = Annotated[int, Meta(ge=1, le=MAX_PARTITIONS)]
Positive = Annotated[int, Meta(ge=1, le=MAX_INT)]
WaitMs = Annotated[float, Meta(gt=0, le=MAX_WAIT_MS)]
TtlMs = Annotated[int, Meta(ge=1, le=MAX_TTL_MS)]
