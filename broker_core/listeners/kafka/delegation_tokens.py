"""Delegation tokens (KIP-48): refused, as by a cluster without a secret key for them."""

from __future__ import annotations

from typing import Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.listeners.kafka.call import Answer, Call

CREATE_KEY, RENEW_KEY, EXPIRE_KEY, DESCRIBE_KEY = 38, 39, 40, 41


def refuse(call: Call, request: Any) -> Answer:
    """DELEGATION_TOKEN_AUTH_DISABLED."""
    return {"error_code": KafkaError.delegation_token_auth_disabled.value}
