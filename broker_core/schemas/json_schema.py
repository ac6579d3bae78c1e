"""JSON Schema, drafts 2020-12 and 07: what is wrong with a document. `format` is a note, not a check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeVar

from jsonschema.exceptions import best_match
from referencing import Registry

from broker_core.limits import MAX_PROBLEMS
from broker_core.schemas.json_keywords import VALIDATORS, WORK, Work
from broker_core.schemas.json_schema_text import CheckedText
from broker_core.schemas.json_text import InvalidJsonError, read_json
from broker_core.schemas.problem import Problem, TooComplexError, pointer_to, shortened, told

T = TypeVar("T")


class JsonSchema:
    """A schema that was read and checked. Immutable; may be used from several threads."""

    def __init__(self, text: str) -> None:
        """Raises InvalidSchemaError."""
        checked = CheckedText(text)
        self.text = text
        self.draft = checked.draft
        self.document = checked.document
        self._patterns = checked.patterns
        self._validator = VALIDATORS[checked.draft](checked.document, registry=Registry())

    def problems(self, value: Any) -> list[Problem]:
        """What is wrong with `value`, None to dict as `read_json` gives them, each with a pointer to the field."""
        try:
            return self._within_limits(value, lambda: self._found(value))
        except TooComplexError:
            return [Problem("", "checking this against the schema takes more steps than are allowed")]

    def problems_of_text(self, text: bytes) -> list[Problem]:
        """What is wrong with the document in `text`."""
        try:
            return self.problems(read_json(text))
        except InvalidJsonError as error:
            return [Problem("", str(error))]

    def accepts(self, value: Any, subschema: Any) -> bool:
        """Whether a part of this schema accepts `value`. Raises TooComplexError."""
        return self._within_limits(value, lambda: bool(self._validator.evolve(schema=subschema).is_valid(value)))

    def finds(self, source: str, name: str) -> bool:
        """Whether the schema's own pattern `source` is found in `name`."""
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
        return told(_told(error) for error in errors)


def _told(error: Any) -> Problem:
    deepest = best_match([error])
    return Problem(pointer_to(*deepest.absolute_path), shortened(deepest.message))
