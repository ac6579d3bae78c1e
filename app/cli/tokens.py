"""Where a token comes from: a file or the environment, which others on the machine do not see, or the command line."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from app.cli.errors import CommandError
from app.cli.waiting import note

TOKEN_VARIABLE = "BROKERSCOPE_TOKEN"


def add_token(parser: argparse.ArgumentParser, about: str) -> None:
    """--token and --token-file; without them the environment is asked."""
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help=f"{about}; its first line (default: ${TOKEN_VARIABLE})"
    )
    parser.add_argument("--token", metavar="TOKEN", help="the same, seen by everybody on this machine")


def token_of(options: argparse.Namespace) -> str | None:
    """The token that is meant, None for none. Raises CommandError for a file that has none, or cannot be read."""
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
