"""The form of a request in HTTP: some fields are in the path, the others in the query or the body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec
from msgspec.structs import FieldInfo

from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.entry import Entry
from broker_core.operations.request import Request
from broker_core.operations.spec_kinds import words_at

DEFAULT_PORT = 8_080  # of a broker's HTTP listener
_UNSENT = (None, msgspec.UNSET)
_PATTERN = re.compile(r"`str` matching regex '.*'")
_JSON_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_LIMITS = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}


class HttpParts(NamedTuple):
    """The parts of an HTTP request; `body` is JSON, or None."""

    verb: str
    path: str
    query: dict[str, str]
    body: bytes | None


class HttpForm:
    """The form of one entry's requests. `path` holds the types of the fields in the path; `query` and `body` are the
    structs of the other fields, None if there are none.
    """

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        fields = {field.name: field for field in msgspec.structs.fields(entry.request)}
        self.path: dict[str, Any] = {name: fields.pop(name).type for name in re.findall(r"{(\w+)}", entry.path)}
        self._names = {name: name for name in fields} | dict(entry.renamed)
        in_query = entry.verb in {"GET", "DELETE"}
        rest = None if not fields or entry.body else self._struct(fields.values())
        self.query: Any = rest if in_query else None
        self.body: Any = fields[entry.body].type if entry.body else None if in_query else rest

    def _struct(self, fields: Any) -> Any:
        if not self.path and not self.entry.renamed:
            return self.entry.request
        request = self.entry.request
        return msgspec.defstruct(
            request.__name__,
            [_named(field, self._names[field.name]) for field in fields],
            namespace={"__doc__": request.__doc__},
            frozen=True,
            kw_only=True,
            forbid_unknown_fields=True,
        )

    def request(self, path: Mapping[str, Any], rest: Any = None) -> Request[Any]:
        """The request of the values in its path and a `rest` of type `query` or `body`."""
        if self.entry.body:
            return self.entry.request(**path, **{self.entry.body: rest})
        if rest is None:
            return self.entry.request(**path)
        return self.entry.request(**path, **{name: getattr(rest, sent) for name, sent in self._names.items()})

    def parts(self, request: Request[Any]) -> HttpParts:
        """The parts of `request`; only its path is checked. Raises MALFORMED_REQUEST as a listener does."""
        values = {}
        for name, kind in self.path.items():
            try:
                values[name] = quote(str(msgspec.convert(getattr(request, name), kind)), safe="")
            except msgspec.ValidationError as error:
                raise unreadable(f"{name} in the path", error, kind) from error
        path = self.entry.path.format_map(values)
        given = {sent: getattr(request, name) for name, sent in self._names.items()}
        if self.query is not None:
            query = {name: _text(value) for name, value in given.items() if value not in _UNSENT}
            return HttpParts(self.entry.verb, path, query, None)
        if self.body is None:
            return HttpParts(self.entry.verb, path, {}, None)
        body = getattr(request, self.entry.body) if self.entry.body else self.body(**given)
        return HttpParts(self.entry.verb, path, {}, msgspec.json.encode(body))


def unreadable(what: str, error: Exception, kind: Any = Any) -> BrokerError:
    """MALFORMED_REQUEST for `what`, which should be `kind`, does not decode."""
    told, _, steps = str(error).replace("\n", " ").partition(" - at `$")
    place = steps.removesuffix("`")
    if told.startswith("Expected "):
        told = _PATTERN.sub("a name of letters, digits, '.', '_' and '-'", told.replace("Expected", "expected", 1))
        told = re.sub("` ([<>])", r"` of \1", told)
        told = re.sub(
            "`([a-z |]+)`", lambda found: " or ".join(_JSON_KINDS.get(x, x) for x in found[1].split(" | ")), told
        )
        told = re.sub("[<>]=?", lambda found: _LIMITS[found[0]], told)
    elif told.startswith(("Invalid enum value", "Object contains unknown field")):
        words = words_at(kind, place)
        told += f"; one of {', '.join(words)}" if words else ""
    told = told.replace("Invalid enum value", "unknown value").removeprefix("Object contains ").removeprefix("Object ")
    return BrokerError(ErrorCode.MALFORMED_REQUEST, f"{place[1:]} in {what}: {told}" if place else f"{what}: {told}")


def _named(field: FieldInfo, sent: str) -> tuple[str, Any, Any]:
    given: dict[str, Any] = {"default": field.default, "default_factory": field.default_factory}
    known = {name: value for name, value in given.items() if value is not msgspec.NODEFAULT}
    return sent, field.type, msgspec.field(**known)


def _text(value: Any) -> str:
    return ("false", "true")[value] if isinstance(value, bool) else str(value)


@cache
def form_of(entry: Entry) -> HttpForm:
    return HttpForm(entry)
