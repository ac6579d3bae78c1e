"""A18: subjects, versions, ids, the seven modes, diff, soft deletion, and the value that a restart goes on from."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from broker_core.errors import BrokerError, ErrorCode
from broker_core.schemas import compatibility
from broker_core.schemas.compatibility import Compatibility
from broker_core.schemas.diff import SchemaChange, changes
from broker_core.schemas.languages import SchemaKind
from broker_core.schemas.registry import RegistryState, SchemaRegistry, frame
from tests.long_form import examples

AVRO = SchemaKind.AVRO


def record(*fields: Any) -> str:
    """Avro; a field is its name (an int), or (name, default)."""
    listed = [
        {"name": field, "type": "int"}
        if isinstance(field, str)
        else {"name": field[0], "type": "int", "default": field[1]}
        for field in fields
    ]
    return json.dumps({"type": "record", "name": "R", "fields": listed})


def thing(**more: Any) -> str:
    return json.dumps({"type": "object", "properties": {"id": {"type": "integer"}}, **more})


def registry(*texts: str, mode: Compatibility = Compatibility.BACKWARD) -> SchemaRegistry:
    found = SchemaRegistry(mode)
    found.set_compatibility(Compatibility.NONE, "s")
    for text in texts:
        found.register("s", text, AVRO)
    found.set_compatibility(None, "s")
    return found


def code_of(action: Any) -> ErrorCode:
    with pytest.raises(BrokerError) as caught:
        action()
    return caught.value.code


def test_the_same_schema_has_the_same_id_in_every_subject_however_it_is_written():
    found = SchemaRegistry()
    first = found.register("a", '{"type": "object", "required": ["x"]}')
    again = found.register("b", '{ "required":["x"],\n"type":"object" }')
    other = found.register("b", '{"type": "object"}')
    assert (first.id, again.id, other.id) == (1, 1, 2)
    assert (first.version, again.version, other.version) == (1, 1, 2)
    assert [usage.subject for usage in found.usages(1)] == ["a", "b"]


def test_the_same_text_in_another_language_is_another_schema():
    found = SchemaRegistry(Compatibility.NONE)
    text = '{"type": "string"}'
    assert found.register("a", text).id != found.register("b", text, AVRO).id


def test_registering_again_gives_the_version_that_is_there():
    found = SchemaRegistry()
    first = found.register("a", thing())
    assert found.register("a", thing()) == first
    assert found.versions("a") == (1,)


# With version 1 = {a}, version 2 = {a, b=0}: what version 3 may be. "ab" needs b; "" drops all; "abc0" adds c=0.
V1, V2 = record("a"), record("a", ("b", 0))
CANDIDATES = {
    "c without a default": record("a", ("b", 0), "c"),
    "c with a default": record("a", ("b", 0), ("c", 0)),
    "b required": record("a", "b"),
    "a dropped": record(("b", 0)),
    "a dropped, b required": record("b"),
}
ACCEPTED = {
    Compatibility.NONE: set(CANDIDATES),
    Compatibility.BACKWARD: {"c with a default", "b required", "a dropped", "a dropped, b required"},
    Compatibility.BACKWARD_TRANSITIVE: {"c with a default", "a dropped"},
    Compatibility.FORWARD: {"c without a default", "c with a default", "b required"},
    Compatibility.FORWARD_TRANSITIVE: {"c without a default", "c with a default", "b required"},
    Compatibility.FULL: {"c with a default", "b required"},
    Compatibility.FULL_TRANSITIVE: {"c with a default"},
}


@pytest.mark.promise("A18")
@pytest.mark.parametrize("mode", Compatibility)
def test_each_of_the_seven_modes_accepts_what_its_name_says(mode):
    accepted = set()
    for name, text in CANDIDATES.items():
        found = registry(V1, V2, mode=mode)
        problems = found.check("s", text, AVRO)
        if problems:
            assert code_of(lambda: found.register("s", text, AVRO)) is ErrorCode.INCOMPATIBLE_SCHEMA  # noqa: B023
            assert found.versions("s") == (1, 2)
        else:
            assert found.register("s", text, AVRO).version == 3
            accepted.add(name)
    assert accepted == ACCEPTED[mode]


def test_a_refusal_says_what_is_incompatible_with_which_version_and_where():
    found = registry(V1, V2, mode=Compatibility.FULL_TRANSITIVE)
    problems = found.check("s", record("b"), AVRO)
    assert [(problem.version, problem.direction, problem.pointer) for problem in problems] == [
        (1, "backward", "/fields/0"),
        (1, "forward", "/fields/0"),
        (2, "forward", "/fields/0"),
    ]
    assert str(problems[0]) == (
        'it cannot read everything that version 1 wrote: /fields/0: the field "b" was not written, and has no default'
    )
    assert str(problems[2]) == (
        'version 2 cannot read everything that it writes: /fields/0: the field "a" was not written, and has no default'
    )


def test_a_subject_may_have_a_mode_of_its_own():
    found = SchemaRegistry()
    assert found.compatibility_of("s") is Compatibility.BACKWARD
    found.set_compatibility(Compatibility.FULL, "s")
    found.set_compatibility(Compatibility.NONE)
    assert (found.compatibility_of("s"), found.compatibility_of("t")) == (Compatibility.FULL, Compatibility.NONE)
    found.set_compatibility(None, "s")
    assert found.compatibility_of("s") is Compatibility.NONE


def test_a_subject_changes_its_language_only_where_nothing_is_compared():
    found = SchemaRegistry()
    found.register("s", thing())
    assert [problem.message for problem in found.check("s", V1, AVRO)] == ["they are in different languages"]
    found.set_compatibility(Compatibility.NONE, "s")
    assert found.register("s", V1, AVRO).kind is AVRO


def test_what_is_no_schema_is_told_with_its_place():
    found = SchemaRegistry()
    assert [problem.pointer for problem in found.check("s", '{"type": "strin"}')] == ["/type"]
    assert code_of(lambda: found.register("s", '{"type": "strin"}')) is ErrorCode.INVALID_SCHEMA
    assert code_of(lambda: found.register("a\nb", thing())) is ErrorCode.INVALID_TOPIC
    assert found.subjects() == ()


def test_what_is_not_there_is_told_by_name():
    found = SchemaRegistry()
    found.register("s", thing())
    assert code_of(lambda: found.versions("t")) is ErrorCode.UNKNOWN_SUBJECT
    assert code_of(lambda: found.version("s", 2)) is ErrorCode.UNKNOWN_SCHEMA_VERSION
    assert code_of(lambda: found.schema(2)) is ErrorCode.UNKNOWN_SCHEMA
    assert code_of(lambda: found.schema(0)) is ErrorCode.UNKNOWN_SCHEMA
    assert code_of(lambda: found.find("s", '{"type": "null"}')) is ErrorCode.UNKNOWN_SCHEMA


def test_deletion_is_soft_and_version_numbers_are_not_used_again():
    found = registry(V1, V2)
    found.delete_version("s", 2)
    assert (found.versions("s"), found.version("s").version) == ((1,), 1)
    assert code_of(lambda: found.version("s", 2)) is ErrorCode.UNKNOWN_SCHEMA_VERSION
    assert found.schema(2).text == V2  # old data can still be read
    assert found.register("s", V2, AVRO) == msgspec.structs.replace(found.version("s"), version=3, id=2)
    assert found.delete_subject("s") == (1, 3)
    assert code_of(lambda: found.version("s")) is ErrorCode.UNKNOWN_SUBJECT
    assert found.register("s", record("zzz"), AVRO).version == 4  # nothing is left that it must go together with


def test_values_are_held_against_the_version_that_they_name_or_the_latest():
    found = SchemaRegistry()
    found.register("s", thing(additionalProperties=False))
    found.register("s", json.dumps({"type": "object", "properties": {"id": {"type": "number"}, "x": {}}}))
    assert found.problems_of("s", b'{"id": 1.5, "x": 2}') == []
    assert [problem.pointer for problem in found.problems_of("s", b'{"id": "a"}')] == ["/id"]
    assert [problem.pointer for problem in found.problems_of("s", frame(1, b'{"id": 1, "x": 2}'))] == ["/x"]
    assert found.problems_of("s", frame(2, b'{"id": 1, "x": 2}')) == []
    assert "schema id 3 is not a version of s" in str(found.problems_of("s", frame(3, b"{}"))[0])
    assert "has no schema" in str(found.problems_of("t", b"{}")[0])
    found.delete_version("s", 1)
    assert "not a version" in str(found.problems_of("s", frame(1, b"{}"))[0])


def test_avro_values_must_name_their_schema():
    found = registry(V1)
    assert "zero byte" in str(found.problems_of("s", b"\x02")[0])
    assert found.problems_of("s", frame(1, b"\x02")) == []
    assert str(found.problems_of("s", frame(1, b""))[0]) == "/a: the data end 1 bytes too early"


def test_a_restart_goes_on_from_the_state():
    found = registry(V1, V2)
    found.register("t", thing())
    found.delete_version("s", 1)
    found.set_compatibility(Compatibility.FULL, "t")
    kept = msgspec.json.decode(msgspec.json.encode(found.state()), type=RegistryState)
    back = SchemaRegistry.restore(kept)
    assert back.state() == found.state()
    assert [back.version(name) for name in back.subjects()] == [found.version(name) for name in found.subjects()]
    assert back.register("u", V2, AVRO).id == 2


def test_a_damaged_state_is_told():
    good = registry(V1).state()
    missing = msgspec.structs.replace(good, schemas=())
    broken = msgspec.structs.replace(good, schemas=((AVRO, "{"),))
    for state in (missing, broken):
        assert code_of(lambda: SchemaRegistry.restore(state)) is ErrorCode.DAMAGED  # noqa: B023


class ManySchemas(RuleBasedStateMachine):
    """Ids never change their meaning, versions never go back, and a state restores to itself."""

    @initialize()
    def begin(self) -> None:
        self.registry = SchemaRegistry(Compatibility.NONE)
        self.ids: dict[str, int] = {}
        self.last: dict[str, int] = {}

    @rule(subject=st.sampled_from("ab"), number=st.integers(0, 4))
    def register(self, subject: str, number: int) -> None:
        text = json.dumps({"const": number})
        found = self.registry.register(subject, text)
        assert self.ids.setdefault(text, found.id) == found.id
        assert found.version <= self.last.get(subject, 0) + 1
        self.last[subject] = max(self.last.get(subject, 0), found.version)
        assert self.registry.find(subject, text) == found

    @rule(subject=st.sampled_from("ab"), version=st.integers(1, 6))
    def delete(self, subject: str, version: int) -> None:
        live = self.registry.versions(subject) if subject in self.registry.subjects() else ()
        if version in live:
            self.registry.delete_version(subject, version)
            assert version not in (self.registry.versions(subject) if subject in self.registry.subjects() else ())

    @invariant()
    def ids_stand_for_their_texts(self) -> None:
        assert sorted(self.ids.values()) == list(range(1, len(self.ids) + 1))
        for text, schema_id in self.ids.items():
            assert self.registry.schema(schema_id).text == text
        assert SchemaRegistry.restore(self.registry.state()).state() == self.registry.state()


ManySchemas.TestCase.settings = settings(max_examples=examples(30), stateful_step_count=20)
test_many_schemas = ManySchemas.TestCase


def test_a_check_against_very_many_versions_ends(monkeypatch):
    found = registry(V1, V2, mode=Compatibility.FULL_TRANSITIVE)
    monkeypatch.setattr(compatibility, "MAX_CHECK_STEPS", 5)
    problems = [str(problem) for problem in found.check("s", record("a", ("b", 0), ("c", 0)), AVRO)]
    assert problems and all("too complex to be compared" in problem for problem in problems)


# -- diff


@pytest.mark.promise("A18")
def test_a_diff_names_what_was_added_removed_and_changed():
    found = registry(record("a", "b"), record(("a", 1), "c"))
    assert found.diff("s", 1) == [
        SchemaChange("removed", "/fields/1", '{"name":"b","type":"int"}', None),
        SchemaChange("added", "/fields/0/default", None, "1"),
        SchemaChange("added", "/fields/1", None, '{"name":"c","type":"int"}'),
    ]
    assert found.diff("s", 2, 2) == []


def test_a_diff_matches_named_things_by_name_and_texts_as_sets():
    assert changes({"required": ["a", "b"]}, {"required": ["b", "c"]}) == [
        SchemaChange("removed", "/required/0", '"a"', None),
        SchemaChange("added", "/required/1", None, '"c"'),
    ]
    assert changes({"symbols": ["A", "B"]}, {"symbols": ["B", "A"]}) == [
        SchemaChange("changed", "/symbols", '["A","B"]', '["B","A"]')
    ]
    assert changes({"a": 1, "x/y~": [1, 2]}, {"a": "1", "x/y~": [1, 3, 4]}) == [
        SchemaChange("changed", "/a", "1", '"1"'),
        SchemaChange("changed", "/x~1y~0/1", "2", "3"),
        SchemaChange("added", "/x~1y~0/2", None, "4"),
    ]
    assert changes([1], {"a": 1}) == [SchemaChange("changed", "", "[1]", '{"a":1}')]
