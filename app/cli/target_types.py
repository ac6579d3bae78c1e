"""Types of arguments, for argparse: which broker is meant, what of it is looked at, and what may be changed."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from app.cli.argument_types import Types
from app.cli.notes import note
from broker_core.clients.http_broker import checked_url
from broker_core.errors import ConfigError
from broker_core.observation.kafka.config import addresses, is_cluster, passed_over
from broker_core.operations.http_form import DEFAULT_PORT

LOOPBACK = "127.0.0.1"
DEFAULT_URL = f"http://{LOOPBACK}:{DEFAULT_PORT}"
WRITES = ("redrive", "offsets")
NAME_PATTERN = re.compile(r"[\w.*?\[\]!-]+", re.ASCII)


def url_of(text: str) -> str:
    """A URL, HOST:PORT, HOST, :PORT or PORT, as a URL."""
    whole = text
    if text.startswith(":"):
        whole = f"{LOOPBACK}{text}"
    elif text.isdecimal():
        whole = f"{LOOPBACK}:{text}"
    try:
        return checked_url(whole)
    except ConfigError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a URL such as {DEFAULT_URL}, nor HOST:PORT") from error


def broker_elsewhere(text: str) -> str:
    """HOST:PORT of a Kafka cluster, or a URL."""
    try:
        (addresses if is_cluster(text) else checked_url)(text)
    except ConfigError as error:
        named = "it" if "@" in text else repr(text)  # what stands before an @ may be a password
        raise argparse.ArgumentTypeError(f"{named} is not HOST:PORT nor a URL ({error.about})") from None
    return text


def cluster(text: str) -> str:
    if not is_cluster(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT of a Kafka cluster")
    return broker_elsewhere(text)


def properties(text: str) -> Path:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"{text!r} is not a file")
    if said := passed_over(Path(text)):
        note(said)
    return Path(text)


def patterns(text: str) -> tuple[str, ...]:
    names = tuple(each.strip() for each in text.split(",") if each.strip())
    if not all(NAME_PATTERN.fullmatch(each) for each in names) or not names:
        raise argparse.ArgumentTypeError(f"{text!r} is not a name such as orders, or orders*")
    return names


def allowed(text: str) -> tuple[str, ...]:
    """Of --allow: what may be done to a cluster."""
    words = tuple(each.strip() for each in text.split(","))
    if not set(words) <= set(WRITES):
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(WRITES)}, or both with a comma")
    return words


#: The words of `resources/command_line.toml` for these types.
TYPES: Types = {
    "url": url_of,
    "elsewhere": broker_elsewhere,
    "cluster": cluster,
    "properties": properties,
    "patterns": patterns,
    "writes": allowed,
}
