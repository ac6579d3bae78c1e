from __future__ import annotations

from broker_core.operations.entry import Entry
from broker_core.operations.request import Request, Result
from broker_core.operations.rights import READ, Right


class VerdictAnswer(Result, frozen=True, kw_only=True):
    """Whether a promise holds. `explanation` says so, and what is wrong, each with the life of its message."""

    name: str
    holds: bool
    explanation: str


class AuditAnswer(Result, frozen=True, kw_only=True):
    verdicts: list[VerdictAnswer]


class AuditBroker(Request[AuditAnswer], frozen=True, kw_only=True):
    """Whether anything was lost, delivered twice, delivered out of order, or is not done yet."""


ENTRIES = (
    Entry(
        AuditBroker,
        "GET /v1/audit",
        "Judge whether anything was lost, delivered twice or out of order",
        "Broker",
        (Right(READ, "broker"),),
        mode="slow",
        errors=(409,),
        details="Only on a broker that is opened for tests, which keeps all its events.",
    ),
)
