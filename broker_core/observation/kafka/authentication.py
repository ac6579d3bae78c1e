"""How a user authenticates at a broker, request by request."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import scramp

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.writing import Body
from broker_core.observation.kafka.config import ConnectionConfig


def authenticating(config: ConnectionConfig, where: str) -> Generator[tuple[str, Body], Any, None]:
    """Each request by which the user of `config` authenticates at `where`; its answer is sent into the generator.

    Raises UNAUTHORIZED, UNSUPPORTED_SASL_MECHANISM.
    """
    offered = yield "SaslHandshake", {"mechanism": config.mechanism}
    if offered.error_code:
        about = f"{where} does not support {config.mechanism}, but {', '.join(offered.mechanisms)}; see sasl.mechanism"
        raise BrokerError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, about)
    if config.mechanism == "PLAIN":
        yield from _step(config, where, f"\0{config.user}\0{config.password}".encode())
        return
    try:
        scram = scramp.ScramClient([config.mechanism], config.user, config.password)
        first = yield from _step(config, where, scram.get_client_first().encode())
        scram.set_server_first(first.decode())
        final = yield from _step(config, where, scram.get_client_final().encode())
        scram.set_server_final(final.decode())
    except (scramp.ScramException, UnicodeDecodeError):
        about = (
            f"{where} and {config.user} could not authenticate each other with {config.mechanism}; check the password"
        )
        raise BrokerError(ErrorCode.UNAUTHORIZED, about) from None


def _step(config: ConnectionConfig, where: str, data: bytes) -> Generator[tuple[str, Body], Any, bytes]:
    found = yield "SaslAuthenticate", {"auth_bytes": data}
    if found.error_code:
        raise BrokerError(ErrorCode.UNAUTHORIZED, f"{where} refused the user {config.user} or the password")
    return bytes(found.auth_bytes or b"")
