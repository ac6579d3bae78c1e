"""JSON Schema, drafts 2020-12 and 07: validation of documents. `format` is an annotation and not checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeVar

from jsonschema.exceptions import best_match
from referencing import Registry

from broker_core.limits import MAX_PROBLEMS
from broker_core.schemas.json_keywords import VALIDATORS, WORK, Work
from broker_core.schemas.json_schema_text import CheckedText
from broker_core.schemas.json_text import InvalidJsonError, read_json
from broker_core.schemas.problem import Problem, TooComplexError, distinct, pointer_to, shortened

T = TypeVar("T")


class JsonSchema:
    """A parsed and checked schema. Immutable and thread-safe."""

    def __init__(self, text: str, referenced: Mapping[str, str] = MappingProxyType({})) -> None:
        """`referenced` are the texts of schemas that it may refer to, by name. Raises InvalidSchemaError."""
        checked = CheckedText(text, referenced)
        self.text = text
        self.draft = checked.draft
        self.document = checked.document
        self._patterns = checked.patterns
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
