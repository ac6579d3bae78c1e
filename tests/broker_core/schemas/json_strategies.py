"""Small JSON Schemas, schemas that are one change away from them, and documents that both may meet."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "xa", "y"])
TEXTS = st.sampled_from(["", "a", "xa", "abc", "red"])
NUMBERS = st.one_of(st.integers(-3, 6), st.sampled_from([0.5, 1.0, 2.5, -1.5]))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)

DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)

TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def _some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keywords)


_LEAVES = st.one_of(
    st.booleans(),
    st.just({}),
    _some(type=TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True)),
    st.fixed_dictionaries({"enum": st.lists(SCALARS, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"const": DOCUMENTS}),
    _some(
        type=st.sampled_from(["integer", "number"]),
        minimum=NUMBERS,
        maximum=NUMBERS,
        exclusiveMinimum=NUMBERS,
        exclusiveMaximum=NUMBERS,
        multipleOf=st.sampled_from([0.5, 1, 2, 3]),
    ),
    _some(
        type=st.just("string"),
        minLength=st.integers(0, 3),
        maxLength=st.integers(0, 3),
        pattern=st.sampled_from(["^x", "a$", "^(a+)+$"]),
    ),
)


def _composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    counts = st.integers(0, 3)
    reference = st.just({"$ref": "#/$defs/d"})
    return st.one_of(
        _some(
            type=st.just("object"),
            properties=st.dictionaries(NAMES, inner | reference, max_size=3),
            required=st.lists(NAMES, max_size=2, unique=True),
            additionalProperties=inner,
            patternProperties=st.dictionaries(st.sampled_from(["^x", "a$"]), inner, max_size=2),
            propertyNames=inner,
            unevaluatedProperties=inner,
            minProperties=counts,
            maxProperties=counts,
            dependentRequired=st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=1),
            dependentSchemas=st.dictionaries(NAMES, inner, max_size=1),
            dependencies=st.dictionaries(NAMES, inner | st.lists(NAMES, max_size=2, unique=True), max_size=1),
        ),
        _some(
            type=st.just("array"),
            items=inner | reference | several,
            additionalItems=inner,
            prefixItems=several,
            minItems=counts,
            maxItems=counts,
            uniqueItems=st.booleans(),
            contains=inner,
            minContains=counts,
            maxContains=counts,
            unevaluatedItems=inner,
        ),
        _some(anyOf=several, oneOf=several, allOf=several),
        st.fixed_dictionaries({"anyOf": several}),
        st.fixed_dictionaries({"oneOf": several}),
        st.fixed_dictionaries({"not": inner}),
        _some(**{"if": inner, "then": inner, "else": inner}),
        reference,
    )


_SCHEMAS = st.recursive(_LEAVES, _composed, max_leaves=8)


_DRAFTS = st.sampled_from(
    [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-04/schema#",
    ]
)


@st.composite
def schemas(draw: st.DrawFn) -> Any:
    """A whole schema; references go to one definition."""
    schema = draw(_SCHEMAS)
    if isinstance(schema, dict):
        schema = {"$schema": draw(_DRAFTS), **schema, "$defs": {"d": draw(_SCHEMAS)}}
    return schema


def _places(schema: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside."""
    found: list[tuple[Any, Any]] = []
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        keys = list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else []
        for key in keys:
            if key not in {"$defs", "$schema"}:
                found.append((part, key))
            waiting.append(part[key])
    return found


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """(older, newer), alike but for a few changes."""
    older = draw(schemas())
    newer = copy.deepcopy(older)
    if isinstance(newer, dict) and draw(st.integers(0, 5)) == 0:
        newer["$schema"] = draw(_DRAFTS)
    for _ in range(draw(st.integers(0, 3))):
        places = _places(newer)
        if not places:
            break
        container, key = draw(st.sampled_from(places))
        what = draw(st.integers(0, 3))
        if what <= 1 and isinstance(container, dict):
            del container[key]
        elif what == 2 and type(container[key]) is int:
            container[key] += draw(st.sampled_from([-1, 1]))
        elif isinstance(container[key], dict | bool):
            container[key] = draw(_LEAVES)
    if draw(st.booleans()) and isinstance(newer, dict):
        beside = {name: newer.pop(name) for name in ("$defs", "$schema") if name in newer}
        newer = {draw(st.sampled_from(["anyOf", "allOf", "oneOf"])): [newer, draw(_LEAVES)], **beside}
    return older, newer
