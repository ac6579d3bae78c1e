"""The SCRAM mechanisms by Kafka's numbers."""

from __future__ import annotations

from typing import Final

from broker_core.broker.scram_credentials import Mechanism

MECHANISMS: Final[dict[int, Mechanism]] = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
NUMBERS: Final = {mechanism: number for number, mechanism in MECHANISMS.items()}
DIGESTS: Final[dict[Mechanism, str]] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
