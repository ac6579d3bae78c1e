"""What `brokerscope audit` prints of an account."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import pytest

from app.cli import sessions


def row(**counts: int) -> dict[str, Any]:
    """One reader as JSON."""
    names = (
        "waiting",
        "in_hand",
        "acknowledged",
        "dead_lettered",
        "aborted",
        "expired",
        "evicted",
        "purged",
        "deleted",
    )
    skipped = {"by a reset": 0, "by its reader": 0, "before it began": 0}
    zeros: Mapping[str, int] = dict.fromkeys(("published", "redriven", "lost", *names), 0)
    return {"source": "jobs", "reader": "jobs", "skipped": skipped, **zeros, **counts}


def printed(rows: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> str:
    found = {"readers": rows, "verdicts": {}, "delivered_again": [], "fetched_again": [], "not_known": []}
    sessions._print(found, argparse.Namespace(json=False))
    return capsys.readouterr().out.splitlines()[0]


def test_columns_come_in_one_order_whichever_row_has_them_first(capsys: pytest.CaptureFixture[str]) -> None:
    early = printed([row(published=3, purged=3), row(published=2, waiting=1, acknowledged=1)], capsys)
    late = printed([row(published=2, waiting=1, acknowledged=1), row(published=3, purged=3)], capsys)
    assert early == late and early.split() == ["Source", "Reader", "Published", "Waiting", "Acknowledged", "Purged"]


def test_what_was_redriven_is_no_second_message_that_was_published(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed([row(published=3, redriven=1, acknowledged=4)], capsys).split()[2:4] == ["Published", "Redriven"]
