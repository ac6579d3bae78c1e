"""What we say of a pair of schemas, and documents that show who is right."""

from __future__ import annotations

import json
import random
from typing import Any

from broker_core.schemas.json_schema import JsonSchema
from broker_core.schemas.languages import SchemaKind, cannot_read, read_schema
from broker_core.schemas.problem import InvalidSchemaError

_TRIES = 60
_PLAIN: tuple[Any, ...] = (None, True, 0, 1, 2, 3, 4, 5, 6, 12, -1, 0.5, "", "a", "b", "ab", "aab", "abcdef", [], {})


def judged(language: str, writer: str, reader: str, theirs: str) -> str:
    """compatible, "not: ..." or "invalid: ...".

    Where `theirs` is another answer, and of some others, too, a document is looked for that `reader` refuses.
    """
    kind = SchemaKind(language)
    try:
        older, newer = read_schema(kind, writer), read_schema(kind, reader)
    except InvalidSchemaError as error:
        return f"invalid: {error}"
    problems = "; ".join(map(str, cannot_read(newer, older)[0]))
    told = f"not: {problems}" if problems else "compatible"
    found = None
    searched = theirs.partition(":")[0] != told.partition(":")[0] or (not problems and len(writer) % 4 == 0)
    if searched and isinstance(older, JsonSchema) and isinstance(newer, JsonSchema):
        found = counterexample(older, newer)
    return told if found is None else f"{told} (refused: {json.dumps(found[0])})"


def counterexample(writer: JsonSchema, reader: JsonSchema) -> list[Any] | None:
    """[a document that `writer` accepts and `reader` does not], or None if none was found."""
    rng = random.Random(f"{writer.text}{reader.text}")
    for _ in range(_TRIES):
        for schema in (writer, reader):
            document = _sample(schema.document, rng, 4)
            refused = not writer.problems(document) and reader.problems(document)
            if refused and any(
                not each.message.startswith("it is required") or not _has_default(reader) for each in refused
            ):
                return [document]
    return None


def _has_default(reader: JsonSchema) -> bool:
    """A missing property may have a default there, which is read instead."""
    return '"default"' in reader.text


def _sample(schema: Any, rng: random.Random, depth: int) -> Any:
    """Something that `schema` may accept, or just not."""
    if not isinstance(schema, dict) or depth == 0 or rng.random() < 0.08:
        return rng.choice(_PLAIN)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return _sample(rng.choice(schema[word]), rng, depth)
    kind = schema.get("type", rng.choice(["object", "array", "string", "number", "null"]))
    kind = rng.choice(kind) if isinstance(kind, list) else kind
    match kind:
        case "object":
            return _object(schema, rng, depth)
        case "array":
            items = schema.get("items", True)
            first = items if isinstance(items, list) else []
            rest = schema.get("additionalItems", True) if isinstance(items, list) else items
            count = rng.choice([schema.get("minItems", 0), len(first), rng.randint(0, 3)])
            return [_sample(first[at] if at < len(first) else rest, rng, depth - 1) for at in range(count)]
        case "string":
            wanted: Any = schema.get("maxLength", schema.get("minLength", rng.randint(0, 3)))
            length = wanted + rng.choice([-1, 0, 0, 1])
            return rng.choice(["".join(rng.choice("ab") for _ in range(max(0, length))), "a", "b"])
        case "integer" | "number":
            bounds = [
                schema[word] for word in ("minimum", "maximum", "exclusiveMinimum", "multipleOf") if word in schema
            ]
            number = (rng.choice(bounds) if bounds else rng.randint(0, 6)) + rng.choice([-1, 0, 0, 1])
            return number + 0.5 if kind == "number" and rng.random() < 0.4 else number * rng.choice([1, 1, 2])
        case "boolean":
            return rng.random() < 0.5
        case _:
            return None


def _object(schema: dict[str, Any], rng: random.Random, depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    names = [name for name in properties if name in required or rng.random() < 0.6]
    names += [name for name in required if name not in names]
    found = {name: _sample(properties.get(name, True), rng, depth - 1) for name in names}
    if rng.random() < 0.5:
        found[rng.choice(["id", "book", "price", "note", "tags"])] = _sample(
            schema.get("additionalProperties", True), rng, depth - 1
        )
    return found
