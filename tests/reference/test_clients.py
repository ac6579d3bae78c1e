"""The guides name the clients that are tried, in the versions that are tried."""

from __future__ import annotations

import pytest

from tests.reference.clients import GUIDES, HEADINGS, with_table


@pytest.mark.parametrize("page", HEADINGS)
def test_the_table_of_clients_is_that_of_today(page: str):
    """Written by `python -m tests.reference.clients`."""
    assert (GUIDES / page).read_text("utf-8") == with_table(page)
