"""TLS of the listeners: the certificate and key that their user brings."""

from __future__ import annotations

import ssl
from pathlib import Path

from broker_core.errors import ConfigError
from broker_core.settings import Settings


class TlsConfig(Settings, frozen=True, kw_only=True):
    """PEM files: the certificate with its chain, and its key, which has no password."""

    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """For a server, TLS 1.2 or newer. Raises INVALID_CONFIG where the files are not such a pair."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key, password=_no_password)
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
            raise ConfigError(
                f"{self.certificate} and {self.key} are no certificate and key for TLS ({reason}); give two PEM files"
            ) from error
        return context


def _no_password() -> str:
    """Instead of OpenSSL's question at the terminal."""
    raise ValueError("the key has a password")
