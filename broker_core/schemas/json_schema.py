"""JSON Schema, drafts 04 to 2020-12: validation of documents. `format` is an annotation and not checked.

Refused, with a pointer: violations of the draft's meta-schema, references out of the schema (nothing is ever fetched),
endless references, patterns that need more than linear time, and schemas above the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import urljoin

import jsonschema_specifications
from jsonschema.exceptions import best_match
from referencing import Registry

from broker_core.limits import MAX_PROBLEMS
from broker_core.schemas.json_draft import DRAFTS, Draft, local_target, path_of
from broker_core.schemas.json_keywords import VALIDATORS, WORK, Work
from broker_core.schemas.json_text import InvalidJsonError, read_json, read_schema_text
from broker_core.schemas.pattern import InvalidPatternError, Pattern
from broker_core.schemas.problem import (
    InvalidSchemaError,
    Problem,
    TooComplexError,
    distinct,
    pointer_to,
    shortened,
    shown,
)

T = TypeVar("T")
_REFUSED = {
    "$schema": "a $schema inside a schema is not supported",
    "$dynamicRef": "$dynamicRef is not supported; use $ref",
    "$recursiveRef": "$recursiveRef is not supported; use $ref",
}


class CheckedText:
    """A checked schema. `document` is without `$schema` and `$id`; `patterns` are its compiled regular expressions.

    `forms` are its subschemas in the keywords of 2020-12, by the id of each.
    """

    def __init__(self, text: str, referenced: Mapping[str, str]) -> None:
        """`referenced` are the texts of schemas that it may refer to, by name. Raises InvalidSchemaError."""
        self.document = read_schema_text(text)
        if referenced and isinstance(self.document, dict):
            self.document = _bundled(self.document, {name: read_schema_text(each) for name, each in referenced.items()})
        self.patterns: dict[str, Pattern] = {}
        self.forms: dict[int, dict[str, Any]] = {}
        self._problems: list[Problem] = []
        self.draft = self._take_draft()
        self._check_against_draft()
        self._check_subschemas()
        self._refuse(self._problems)
        self._check_endless_references()

    @staticmethod
    def _refuse(problems: list[Problem]) -> None:
        if problems:
            raise InvalidSchemaError(distinct(problems))

    def _take_draft(self) -> Draft:
        if isinstance(self.document, bool):
            return Draft.D7
        if not isinstance(self.document, dict):
            raise InvalidSchemaError([Problem("", "a JSON Schema is an object, or true or false")])
        uri = self.document.pop("$schema", "http://json-schema.org/draft-07/schema#")
        draft = DRAFTS.get(uri.partition("://")[2].removesuffix("#")) if isinstance(uri, str) else None
        if draft is None:
            message = f"the dialect {shown(uri)} is not known; {', '.join(DRAFTS)} are"
            raise InvalidSchemaError([Problem("/$schema", message)])
        self.document.pop(draft.id_keyword, None)
        return draft

    def _check_against_draft(self) -> None:
        validator = self.draft.validator
        meta = validator(validator.META_SCHEMA, registry=jsonschema_specifications.REGISTRY)
        try:
            errors = list(meta.iter_errors(self.document))
        except RecursionError:
            raise InvalidSchemaError([Problem("", "the schema is nested too deeply")]) from None
        self._refuse([Problem(pointer_to(*error.absolute_path), shortened(error.message)) for error in errors])

    def _check_subschemas(self) -> None:
        seen: set[int] = set()
        waiting: list[tuple[tuple[str | int, ...], Any]] = [((), self.document)]
        evaluates, by_pattern = "", False
        while waiting:
            path, schema = waiting.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            counting = self.draft.counting(schema)
            self.forms[id(schema)] = self.draft.form(schema)
            self._check_subschema(path, schema, counting)
            by_pattern = by_pattern or "patternProperties" in counting
            if "unevaluatedProperties" in counting:
                evaluates = pointer_to(*path, "unevaluatedProperties")
            if "$ref" in counting:
                waiting.extend(self._target(path, counting["$ref"]))
            waiting.extend(((*path, *inner), subschema) for inner, subschema, _ in self.draft.subschemas(schema))
        if evaluates and by_pattern:
            # The library would match the patterns with Python's `re`.
            self._add(evaluates, "unevaluatedProperties is not supported in a schema with patternProperties")

    def _check_subschema(self, path: tuple[str | int, ...], schema: dict[str, Any], counting: dict[str, Any]) -> None:
        inside = {self.draft.id_keyword: "an id inside a schema is not supported"}
        for keyword, message in (inside | _REFUSED).items():
            if keyword in schema:
                self._add(pointer_to(*path, keyword), message)
        sources: list[tuple[tuple[str, ...], Any]] = (
            [(("pattern",), counting["pattern"])] if "pattern" in counting else []
        )
        sources += [(("patternProperties", source), source) for source in counting.get("patternProperties", {})]
        for inner, source in sources:
            try:
                self.patterns[source] = Pattern(source)
            except InvalidPatternError as error:
                self._add(pointer_to(*path, *inner), str(error))

    def _target(self, path: tuple[str | int, ...], ref: str) -> list[tuple[tuple[str | int, ...], Any]]:
        try:
            return [(path_of(ref), local_target(self.document, ref))]
        except KeyError:
            message = f"{shown(ref)} is not followed: only references to schemas in this text (#/...) are"
            self._add(pointer_to(*path, "$ref"), message)
            return []

    def _check_endless_references(self) -> None:
        """Refuse references that return to themselves at the same location: they would be followed forever."""
        done: set[int] = set()
        way: dict[int, None] = {}

        def visit(schema: Any) -> None:
            if not isinstance(schema, dict) or id(schema) in done:
                return
            if id(schema) in way:
                raise InvalidSchemaError([Problem("", "its references form an endless loop")])
            way[id(schema)] = None
            ref = self.draft.counting(schema).get("$ref")
            if ref is not None:
                visit(local_target(self.document, ref))
            for _, inner, same_place in self.draft.subschemas(schema):
                if same_place:
                    visit(inner)
            del way[id(schema)]
            done.add(id(schema))

        roots, seen = [self.document], {id(self.document)}
        while roots:
            schema = roots.pop()
            try:
                visit(schema)
            except RecursionError:
                raise InvalidSchemaError([Problem("", "its references form a chain that is too long")]) from None
            if isinstance(schema, dict):
                inner = [subschema for _, subschema, _ in self.draft.subschemas(schema)]
                ref = self.draft.counting(schema).get("$ref")
                inner += [] if ref is None else [local_target(self.document, ref)]
                roots += [found for found in inner if id(found) not in seen]
                seen.update(id(found) for found in inner)

    def _add(self, pointer: str, message: str) -> None:
        self._problems.append(Problem(pointer, message))


def _bundled(document: dict[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """One document of all: the others are among its definitions, and references lead there."""
    places = {name: f"#/$defs/{name.replace('~', '~0').replace('/', '~1')}" for name in others}

    def moved(value: Any, prefix: str, base: str) -> Any:
        if isinstance(value, list):
            return [moved(each, prefix, base) for each in value]
        if not isinstance(value, dict):
            return value
        found = {key: moved(each, prefix, base) for key, each in value.items()}
        ref = value.get("$ref")
        if isinstance(ref, str):
            target, _, pointer = ref.partition("#")
            place = places.get(target) or places.get(urljoin(base, target)) if target else prefix
            found["$ref"] = ref if place is None else place + pointer
        return found

    def base_of(schema: Any) -> str:
        base = schema.get("$id", schema.get("id", "")) if isinstance(schema, dict) else ""
        return base if isinstance(base, str) else ""

    whole: dict[str, Any] = moved(document, "#", base_of(document))
    definitions = dict(whole.get("$defs", {}))
    for name, other in others.items():
        inner = moved(other, places[name], base_of(other))
        if isinstance(inner, dict):
            inner = {key: value for key, value in inner.items() if key not in {"$schema", "$id", "id"}}
        definitions[name] = inner
    return {**whole, "$defs": definitions}


class JsonSchema:
    """A parsed and checked schema. Immutable and thread-safe."""

    def __init__(self, text: str, referenced: Mapping[str, str] = MappingProxyType({})) -> None:
        """`referenced` are the texts of schemas that it may refer to, by name. Raises InvalidSchemaError."""
        checked = CheckedText(text, referenced)
        self.text = text
        self.draft = checked.draft
        self.document = checked.document
        self._patterns = checked.patterns
        self._forms = checked.forms
        self._validator = VALIDATORS[checked.draft](checked.document, registry=Registry())

    def problems(self, value: Any) -> list[Problem]:
        """The problems of `value`, a JSON value as `read_json` returns it, with pointers to the fields."""
        try:
            return self._within_limits(value, lambda: self._found(value))
        except TooComplexError:
            return [Problem("", "checking this against the schema takes more steps than are allowed")]

    def problems_of_binary(self, data: bytes, at: int = 0) -> list[Problem]:
        """The problems of the JSON document in `data` from `at` on."""
        try:
            return self.problems(read_json(data[at:]))
        except InvalidJsonError as error:
            return [Problem("", str(error))]

    def accepts(self, value: Any, subschema: Any) -> bool:
        """Whether a part of this schema accepts `value`. Raises TooComplexError."""
        return self._within_limits(value, lambda: bool(self._validator.evolve(schema=subschema).is_valid(value)))

    def modern(self, part: dict[str, Any]) -> dict[str, Any]:
        """A subschema in the keywords of 2020-12; one that is not of the text has them."""
        return self._forms.get(id(part), part)

    def finds(self, source: str, name: str) -> bool:
        """Whether the pattern `source` of this schema matches in `name`."""
        return self._patterns[source].found_in(name)

    def _within_limits(self, value: Any, check: Callable[[], T]) -> T:
        token = WORK.set(Work(value, self._patterns))
        try:
            return check()
        except RecursionError:
            raise TooComplexError from None
        finally:
            WORK.reset(token)

    def _found(self, value: Any) -> list[Problem]:
        errors: Iterator[Any] = islice(self._validator.iter_errors(value), MAX_PROBLEMS)
        return distinct(_problem_of(error) for error in errors)


def _problem_of(error: Any) -> Problem:
    deepest = best_match([error])
    return Problem(pointer_to(*deepest.absolute_path), shortened(deepest.message))
