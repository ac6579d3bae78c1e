"""The API of Confluent's schema registry, at the root, for Confluent's serializers and tools.

Paths, bodies, errors, their numbers and sentences are Confluent's. Left out, and refused in a sentence: contexts, and
modes other than READWRITE.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import SLASH, HttpCall, RouteHandler, Routes
from broker_core.operations.entry import ADMIN, READ, WRITE
from broker_core.operations.fields import Subject
from broker_core.operations.schemas import (
    CompatibilityMode,
    DeleteSubject,
    DeleteVersion,
    RegisterSchema,
    SchemaText,
    SetCompatibility,
    SetDefaultCompatibility,
)
from broker_core.schemas.compatibility import SchemaKind
from broker_core.schemas.problem import InvalidSchemaError
from broker_core.schemas.registry import References, SchemaRegistry, SchemaVersion

routes = Routes("Schema registry")

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
_LATEST = ("latest", "-1")
_READ_WRITE = "READWRITE"
# Errors that have a number of their own in Confluent's registry.
_NUMBERS = {
    ErrorCode.INVALID_TOPIC: (422, 42208),
    ErrorCode.MALFORMED_REQUEST: (422, 42201),
    ErrorCode.INVALID_REQUEST: (422, 42204),
    ErrorCode.INVALID_SCHEMA: (422, 42201),
    ErrorCode.REFERENCE_EXISTS: (422, 42206),
    ErrorCode.UNAUTHORIZED: (401, 40101),
    ErrorCode.FORBIDDEN: (403, 40301),
}
# Confluent's sentences, with the parameters of the path and what we say.
_SENTENCES = {
    ErrorCode.UNKNOWN_SUBJECT: "Subject '{subject}' not found.",
    ErrorCode.UNKNOWN_SCHEMA_VERSION: "Version {version} not found.",
    ErrorCode.UNKNOWN_SCHEMA: "Schema {id}not found",
    ErrorCode.INVALID_SCHEMA: "Invalid schema: {about}",
    ErrorCode.REFERENCE_EXISTS: "One or more references exist to the schema: {about}",
    ErrorCode.INCOMPATIBLE_SCHEMA: (
        'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: [{about}]'
    ),
}
_MOST_VERSION = 2_147_483_647
_Answer = Callable[[HttpCall], Awaitable[Any]]


class _Refused(Exception):
    """An error of Confluent's that nothing else here has."""

    def __init__(self, status: int, number: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.number = number


SchemaType = Literal["AVRO", "JSON", "PROTOBUF"]
RegistryMode = Literal["READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD"]


class Candidate(msgspec.Struct, frozen=True, rename="camel"):
    schema: str
    schema_type: SchemaType = "AVRO"
    references: References = ()


class CompatibilityLevel(msgspec.Struct, frozen=True):
    compatibility: str

    def mode(self) -> CompatibilityMode:
        """Raises `_Refused`."""
        try:
            found: CompatibilityMode = msgspec.convert(self.compatibility.upper(), CompatibilityMode)
        except msgspec.ValidationError:
            known = "none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive"
            raise _Refused(422, 42203, f"Invalid compatibility level. Valid values are {known}") from None
        return found


class ModeChange(msgspec.Struct, frozen=True):
    mode: RegistryMode


def _confluent(handler: _Answer) -> RouteHandler:
    """Results and errors of `handler` in the form of Confluent's registry."""

    @functools.wraps(handler)
    async def answer(call: HttpCall) -> Response:
        try:
            call.identify()
            found, status = await handler(call), 200
        except BrokerError as error:
            call.connection.failed(str(error))
            usual = error.code.status
            status, number = _NUMBERS.get(error.code, (usual, error.code.code))
            names = {name: text.replace(SLASH, "/") for name, text in call.request.path_params.items()}
            names["about"] = error.about
            names["id"] = f"{names['id']} " if "id" in names else ""
            message = _SENTENCES[error.code].format(**names) if error.code in _SENTENCES else str(error)
            found = {"error_code": number if number >= usual else usual, "message": message}
        except _Refused as refused:
            call.connection.failed(str(refused))
            found, status = {"error_code": refused.number, "message": str(refused)}, refused.status
        return Response(msgspec.json.encode(found), status, media_type=MEDIA_TYPE)

    return answer


def _serve(method: str, path: str) -> Callable[[_Answer], RouteHandler]:
    """Declare the handler below. It authenticates by itself, so that errors have Confluent's form."""

    def declare(handler: _Answer) -> RouteHandler:
        return routes(method, path, open=True)(_confluent(handler))

    return declare


# -- subjects and versions


@_serve("GET", "/subjects")
async def subjects(call: HttpCall) -> list[str]:
    prefix, there = (
        call.request.query_params.get("subjectPrefix", ""),
        _registry(call).subjects(deleted=_flag(call, "deleted")),
    )
    return [name for name in there if name.startswith(prefix) and call.may(READ, "subject", name)]


@_serve("POST", "/subjects/{subject}")
async def find(call: HttpCall) -> Mapping[str, Any]:
    name = _subject(call, READ)
    return _described(call, _registry(call).find(name, *await _candidate(call)))


@_serve("DELETE", "/subjects/{subject}")
async def delete_subject(call: HttpCall) -> list[int]:
    name, permanent = _subject(call, ADMIN), _flag(call, "permanent")
    live = _registry(call).subjects()
    if permanent and name in live:
        raise _Refused(404, 40405, f"Subject '{name}' was not deleted first before being permanently deleted")
    if not permanent and name not in live and name in _registry(call).subjects(deleted=True):
        raise _Refused(404, 40404, f"Subject '{name}' was soft deleted.Set permanent=true to delete permanently")
    return await call.ask(DeleteSubject(subject=name, permanent=permanent))


@_serve("GET", "/subjects/{subject}/versions")
async def versions(call: HttpCall) -> list[int]:
    return list(_registry(call).versions(_subject(call, READ), deleted=_flag(call, "deleted")))


@_serve("POST", "/subjects/{subject}/versions")
async def register(call: HttpCall) -> Mapping[str, Any]:
    name = _subject(call, WRITE)
    text = SchemaText.of(*await _candidate(call))
    registered = await call.ask(RegisterSchema(subject=name, text=text))
    return _described(call, registered)


@_serve("GET", "/subjects/{subject}/versions/{version}")
async def version(call: HttpCall) -> Mapping[str, Any]:
    return _described(call, _version(call, _subject(call, READ), deleted=_flag(call, "deleted")))


@_serve("GET", "/subjects/{subject}/versions/{version}/schema")
async def version_text(call: HttpCall) -> Any:
    return msgspec.Raw(_version(call, _subject(call, READ)).text.encode())


@_serve("GET", "/subjects/{subject}/versions/{version}/referencedby")
async def referenced_by(call: HttpCall) -> list[int]:
    name = _subject(call, READ)
    return list(_registry(call).referenced_by(name, _version(call, name, deleted=True).version))


@_serve("DELETE", "/subjects/{subject}/versions/{version}")
async def delete_version(call: HttpCall) -> int:
    name, permanent = _subject(call, ADMIN), _flag(call, "permanent")
    number = _version(call, name, deleted=True).version
    named, live = f"Subject '{name}' Version {number} was", name in _registry(call).subjects()
    if live and number in _registry(call).versions(name):
        if permanent:
            raise _Refused(404, 40407, f"{named} not deleted first before being permanently deleted")
    elif not permanent:
        raise _Refused(404, 40406, f"{named} soft deleted.Set permanent=true to delete permanently")
    await call.ask(DeleteVersion(subject=name, version=number, permanent=permanent))
    return number


# -- schemas by id


@_serve("GET", "/schemas/types")
async def schema_types(call: HttpCall) -> list[str]:
    return sorted(kind.value for kind in SchemaKind)


@_serve("GET", "/schemas/ids/{id}")
async def schema(call: HttpCall) -> Mapping[str, Any]:
    number, kind, text = _by_id(call)
    return {
        "schema": _formatted(call, number, text),
        "id": number,
        **_type_of(kind),
        **_references(_registry(call).references(number)),
    }


@_serve("GET", "/schemas/ids/{id}/schema")
async def schema_text(call: HttpCall) -> Any:
    return msgspec.Raw(_by_id(call)[2].encode())


@_serve("GET", "/schemas/ids/{id}/subjects")
async def schema_subjects(call: HttpCall) -> list[str]:
    return list(dict.fromkeys(each.subject for each in _usages(call)))


@_serve("GET", "/schemas/ids/{id}/versions")
async def schema_versions(call: HttpCall) -> list[Mapping[str, Any]]:
    return [{"subject": each.subject, "version": each.version} for each in _usages(call)]


# -- compatibility


@_serve("POST", "/compatibility/subjects/{subject}/versions")
async def check_all(call: HttpCall) -> Mapping[str, Any]:
    return await _check(call, _subject(call, READ))


@_serve("POST", "/compatibility/subjects/{subject}/versions/{version}")
async def check_version(call: HttpCall) -> Mapping[str, Any]:
    name = _subject(call, READ)
    _version(call, name)
    return await _check(call, name)


async def _check(call: HttpCall, name: str) -> Mapping[str, Any]:
    candidate = await _candidate(call)
    registry = _registry(call)
    problems = await call.slow(lambda: call.host.call(lambda _now: registry.check(name, *candidate)))
    found: dict[str, Any] = {"is_compatible": not problems}
    if _flag(call, "verbose"):
        found["messages"] = [str(problem) for problem in problems]
    return found


@_serve("GET", "/config")
async def config(call: HttpCall) -> Mapping[str, str]:
    return {"compatibilityLevel": _registry(call).compatibility.value}


@_serve("PUT", "/config")
async def set_config(call: HttpCall) -> Mapping[str, str]:
    call.must(ADMIN, "broker")
    level = (await call.body(CompatibilityLevel)).mode()
    await call.ask(SetDefaultCompatibility(mode=level))
    return {"compatibility": level}


@_serve("GET", "/config/{subject}")
async def subject_config(call: HttpCall) -> Mapping[str, str]:
    name, registry = _subject(call, READ), _registry(call)
    if not registry.has_own_compatibility(name) and not _flag(call, "defaultToGlobal"):
        raise _Refused(404, 40408, f"Subject '{name}' does not have subject-level compatibility configured")
    return {"compatibilityLevel": registry.compatibility_of(name).value}


@_serve("PUT", "/config/{subject}")
async def set_subject_config(call: HttpCall) -> Mapping[str, str]:
    name = _subject(call, ADMIN)
    level = (await call.body(CompatibilityLevel)).mode()
    await call.ask(SetCompatibility(subject=name, mode=level))
    return {"compatibility": level}


@_serve("DELETE", "/config/{subject}")
async def delete_subject_config(call: HttpCall) -> Mapping[str, str]:
    name = _subject(call, ADMIN)
    before = _registry(call).compatibility_of(name).value
    await call.ask(SetCompatibility(subject=name, mode=None))
    return {"compatibilityLevel": before}


@_serve("GET", "/mode")
@_serve("GET", "/mode/{subject}")
async def mode(call: HttpCall) -> Mapping[str, str]:
    return {"mode": _READ_WRITE}


@_serve("PUT", "/mode")
@_serve("PUT", "/mode/{subject}")
async def set_mode(call: HttpCall) -> Mapping[str, str]:
    call.must(ADMIN, "broker")
    wanted = (await call.body(ModeChange)).mode
    if wanted != _READ_WRITE:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"the mode {wanted} is not served; the registry is {_READ_WRITE}")
    return {"mode": wanted}


# -- inside


def _registry(call: HttpCall) -> SchemaRegistry:
    return call.broker.schemas.registry


def _subject(call: HttpCall, use: Any) -> str:
    name: str = call.path("subject", Subject)
    call.must(use, "subject", name)
    return name


def _version(call: HttpCall, name: str, *, deleted: bool = False) -> SchemaVersion:
    text: str = call.path("version", str)
    if text in _LATEST:
        return _registry(call).version(name, deleted=deleted)
    if not text.isdecimal() or len(text) > 10 or not 1 <= int(text) <= _MOST_VERSION:
        allowed = 'Allowed values are between [1, 2^31-1] and the string "latest"'
        raise _Refused(422, 42202, f"The specified version '{text[:20]}' is not a valid version id. {allowed}")
    return _registry(call).version(name, int(text), deleted=deleted)


async def _candidate(call: HttpCall) -> tuple[str, SchemaKind, References]:
    body = await call.body(Candidate)
    if body.schema_type == SchemaKind.PROTOBUF:
        # Read here, so that it is known where the broker's lock is held; what is wrong is said there.
        from broker_core.schemas.protobuf_text import file_of

        with contextlib.suppress(InvalidSchemaError):
            await call.slow(lambda: file_of(body.schema))
    return body.schema, SchemaKind(body.schema_type), body.references


def _flag(call: HttpCall, name: str) -> bool:
    return bool(call.request.query_params.get(name, "").lower() == "true")


def _described(call: HttpCall, found: SchemaVersion) -> Mapping[str, Any]:
    text = _formatted(call, found.id, found.text)
    named = {"subject": found.subject, "version": found.version, "id": found.id, "schema": text}
    return {**named, **_type_of(found.kind), **_references(found.references)}


def _formatted(call: HttpCall, schema_id: int, text: str) -> str:
    """The text, or what the client reads instead where it asks for it."""
    if call.request.query_params.get("format") != "serialized":
        return text
    return getattr(_registry(call).schema(schema_id), "serialized", text)


def _type_of(kind: SchemaKind) -> Mapping[str, str]:
    """A missing type means AVRO."""
    return {} if kind is SchemaKind.AVRO else {"schemaType": kind.value}


def _references(found: References) -> Mapping[str, Any]:
    return {"references": found} if found else {}


def _number(call: HttpCall) -> int:
    text: str = call.path("id", str)
    if not text.isdigit() or len(text) > 9:
        raise BrokerError(ErrorCode.UNKNOWN_SCHEMA, f"id {text[:20]}")
    return int(text)


def _by_id(call: HttpCall) -> tuple[int, SchemaKind, str]:
    """Id, language and text. Reading needs the right to one subject that has it."""
    number = _number(call)
    kind, text = _registry(call).text(number)
    usages = _registry(call).usages(number)
    if usages and not any(call.may(READ, "subject", each.subject) for each in usages):
        call.must(READ, "subject", usages[0].subject)
    return number, kind, text


def _usages(call: HttpCall) -> list[SchemaVersion]:
    return [each for each in _registry(call).usages(_number(call)) if call.may(READ, "subject", each.subject)]
