"""Tokens of the command line: from a file or the environment, which other users do not see, or from an option."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from app.cli.errors import CommandError
from app.cli.waiting import note

TOKEN_VARIABLE = "BROKERSCOPE_TOKEN"


def add_token(parser: argparse.ArgumentParser, about: str) -> None:
    """--token and --token-file; the default is the environment."""
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help=f"{about}; its first line (default: ${TOKEN_VARIABLE})"
    )
    parser.add_argument("--token", metavar="TOKEN", help="the same; other users of this machine can see it")


def token_of(options: argparse.Namespace) -> str | None:
    """The given token, or None. Raises CommandError for a file without one, or that cannot be read."""
    if options.token is not None and options.token_file is not None:
        raise CommandError("--token and --token-file are two tokens; leave one out.")
    if options.token is not None:
        note(
            "A token on the command line is seen by everybody on this machine; "
            f"--token-file FILE or ${TOKEN_VARIABLE} is not.",
            as_json=getattr(options, "json", False),
        )
        return str(options.token)
    if options.token_file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    try:
        lines = options.token_file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise CommandError(f"{options.token_file} is not UTF-8 text, so no token is in it.") from error
    if not lines or not lines[0].strip():
        raise CommandError(f"{options.token_file} has no token in its first line.")
    return str(lines[0].strip())
