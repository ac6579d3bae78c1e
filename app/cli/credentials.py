"""The token and the TLS files that the options give."""

from __future__ import annotations

import argparse
import os

from app.cli.notes import note
from app.cli.parser import CommandError
from broker_core.listeners.listener import TlsConfig

TOKEN_VARIABLE = "BROKERSCOPE_TOKEN"


def token_of(options: argparse.Namespace) -> str | None:
    """The given token, or None. Raises CommandError for a file without one, or that cannot be read."""
    if options.token is not None and options.token_file is not None:
        raise CommandError("--token and --token-file both give a token; leave one out.")
    if options.token is not None:
        note(
            "Everyone on this machine can see a token on the command line; use --token-file FILE or "
            f"${TOKEN_VARIABLE} instead.",
            as_json=getattr(options, "json", False),
        )
        return str(options.token)
    if options.token_file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    try:
        lines = options.token_file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise CommandError(f"{options.token_file} is not UTF-8 text, so it contains no token.") from error
    if not lines or not lines[0].strip():
        raise CommandError(f"{options.token_file} has no token in its first line.")
    return str(lines[0].strip())


def tls_of(options: argparse.Namespace) -> TlsConfig | None:
    if (options.tls_certificate is None) != (options.tls_key is None):
        raise CommandError("--tls-certificate and --tls-key go together; give both, or neither.")
    if options.tls_certificate is None:
        return None
    return TlsConfig(certificate=options.tls_certificate, key=options.tls_key)
