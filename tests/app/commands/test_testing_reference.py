"""The reference for tests is made from the code."""

from __future__ import annotations

import pytest

import resources
from broker_core.broker.conditions import FIELDS
from broker_core.recording.audit import Audit
from broker_core.testing.clock import BrokerClock
from broker_core.testing.faults import Faults
from tests.app.commands import testing_api as api
from tests.app.commands.testing_reference import testing_reference as reference  # pytest collects what begins with test


def test_the_guide_has_what_the_code_says() -> None:
    """After a change: write what `testing_reference()` returns into the file."""
    assert resources.path("guides", "testing-reference.md").read_text(encoding="utf-8") == reference()


@pytest.mark.parametrize(("cls", "prefix"), [(Faults, "faults."), (BrokerClock, "clock."), (Audit, "audit().")])
def test_every_public_member_is_there(cls: type, prefix: str) -> None:
    names = [name for name in vars(cls) if not name.startswith("_")]
    assert len(names) >= 5
    assert [name for name in names if f"`broker.{prefix}{name}" not in reference()] == []


def test_every_field_is_there_with_what_has_it() -> None:
    text = reference()
    assert all(f"| `~{field.name}`" in text or f"| `{field.name}`" in text for field in FIELDS)
    assert "| `messages` | topic | Messages in a topic. |" in text
    assert '| `lag`, `lag("billing")` | group, queue, share_group, event |' in text
    assert "`state`: `Stable`" in text and "`NOT_LEADER_OR_FOLLOWER`" in text


def test_the_classes_are_listed_as_they_are() -> None:
    """After a change: write what `testing_api()` returns into the file."""
    text = api.testing_api()
    assert resources.path("guides", "testing-api.md").read_text(encoding="utf-8") == text
    for cls in api.CLASSES:
        names = [name for name in vars(cls) if not name.startswith("_") and callable(getattr(cls, name))]
        assert [name for name in names if f"### `{name}" not in text] == []


def test_all_that_a_test_imports_is_listed() -> None:
    import broker_core.testing

    told = api.testing_api()
    assert [name for name in broker_core.testing.__all__ if f"## `{name}`" not in told] == []
