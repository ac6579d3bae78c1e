"""Forms as their table declares them, and their fields that come from the fields of requests: range, words, default and
help are declared once.
"""

from __future__ import annotations

import re

import pytest

from app.commands.forms import _DECLARED, MOST, form_of, request_field
from broker_core.flow.config import FlowConfig
from broker_core.limits import MAX_PARTITIONS
from broker_core.operations.topics import CreateTopic, LogSettings
from broker_core.queues.config import QueueConfig
from broker_core.schemas.rule import SchemaRule


def test_a_number_has_the_range_and_the_default_of_its_request() -> None:
    partitions = request_field(CreateTopic, "partitions", "Partitions")
    assert (partitions.kind, partitions.value, partitions.least, partitions.most) == ("whole", 1, 1, MAX_PARTITIONS)
    assert partitions.hint == "Number of partitions."
    lease = request_field(QueueConfig, "lease_ms", "Lease", unit=1_000)
    assert (lease.name, lease.kind, lease.value, lease.unit) == ("lease_ms", "decimal", 30_000, 1_000)
    assert lease.least > 0, "a lease of nothing is none"


def test_the_least_number_stands_for_null_and_no_spin_box_overflows() -> None:
    limit = request_field(FlowConfig, "max_messages", "Depth", none="no limit")
    assert (limit.least, limit.most, limit.none, limit.value) == (0, MOST, "no limit", None)
    kept = request_field(LogSettings, "retention_ms", "Keep for", unit=1_000, none="no limit")
    assert (kept.value, kept.least) == (None, 0)


def test_every_word_of_a_request_can_be_chosen_also_one_without_a_text() -> None:
    mode = request_field(SchemaRule, "mode", "Mode", words={"refuse": "are refused"})
    assert mode.choices == (("refuse", "are refused"), ("dead_letter", "dead_letter"))
    assert mode.value == "refuse"


@pytest.mark.parametrize("name", sorted(_DECLARED.keys() - {"like", "parts"}))
def test_each_field_of_a_form_has_a_name_a_label_and_what_fields_have(name: str) -> None:
    texts = " ".join(_DECLARED[name].get(part, "") for part in ("title", "about", "button"))
    made = form_of(name, {}, **dict.fromkeys(re.findall(r"{(\w+)}", texts), "x"))
    assert all(field.name and field.label for field in made.fields)


def test_what_is_given_to_a_field_that_a_form_lacks_is_an_error() -> None:
    with pytest.raises(KeyError, match="moments"):
        form_of("go_to", {"moments": {"value": "1"}})
