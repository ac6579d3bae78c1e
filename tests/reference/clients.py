"""The table of tried clients in the guides, with their versions and what tries them. As a program, writes it."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from confluent_kafka import libversion

from tests.reference.java_programs import versions

GUIDES = Path(__file__).parents[2] / "resources" / "guides"
HEADINGS = {"kafka.md": ("client", "version", "tried by"), "kafka.de.md": ("Client", "Version", "erprobt mit")}


def tried() -> list[tuple[str, str, str]]:
    """Name, version, and the command that tries it."""
    java, python = versions(), metadata.version
    return [
        ("Apache Kafka's Java client, admin client and tools", java["kafka-tools"], "make reference"),
        ("Kafka Streams", java["kafka-streams"], "make reference"),
        ("MirrorMaker 2", java["connect-mirror"], "make reference"),
        ("Spring Kafka", java["spring-kafka"], "make reference"),
        (f"confluent-kafka (librdkafka {libversion()[0]})", python("confluent-kafka"), "make test"),
        ("aiokafka", python("aiokafka"), "make test"),
        ("kafka-python", python("kafka-python"), "make test"),
    ]


def table(page: str) -> str:
    """For one of the guides."""
    lines = [HEADINGS[page], ("---",) * 3, *((name, version, f"`{by}`") for name, version, by in tried())]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def with_table(page: str) -> str:
    """The guide as it is, with the table of today."""
    text = (GUIDES / page).read_text("utf-8")
    heading = re.escape(f"| {' | '.join(HEADINGS[page])} |")
    return re.sub(rf"{heading}\n(\|.*\n)+", lambda _: table(page), text)


if __name__ == "__main__":
    for page in HEADINGS:
        (GUIDES / page).write_text(with_table(page), "utf-8")
