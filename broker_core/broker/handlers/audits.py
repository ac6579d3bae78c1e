"""What has happened in a broker that is used in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations import audits

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker


def _audit(broker: Broker, now_ns: int, _request: audits.AuditBroker) -> audits.AuditAnswer:
    if broker.auditor is None:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST,
            "this broker does not keep its events; open one for tests, by EmbeddedBroker or serve --testing",
        )
    return broker.auditor(now_ns)
