"""The API of Confluent's schema registry, at the root, for Confluent's serializers and tools.

Paths, bodies, errors, their numbers and sentences are Confluent's. Left out: contexts but the default one, rules, tags,
associations and GUIDs; refused in a sentence: modes other than READWRITE.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType
from starlette.responses import Response

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import SLASH, HttpCall, RouteHandler, Routes, path_names
from broker_core.names import CLUSTER_ID
from broker_core.operations import schemas
from broker_core.operations.entry import ADMIN, READ, WRITE
from broker_core.operations.fields import Subject
from broker_core.schemas.compatibility import Compatibility
from broker_core.schemas.languages import SchemaKind
from broker_core.schemas.problem import InvalidSchemaError
from broker_core.schemas.registry import References, SchemaMetadata, SchemaRegistry, SchemaVersion
from broker_core.version import program_version

routes = Routes("Schema registry")

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
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
    ErrorCode.UNKNOWN_SCHEMA: "Schema {id}not found",  # `id` has a blank behind it, if the path has one
    ErrorCode.INVALID_SCHEMA: "Invalid schema: {about}",
    ErrorCode.REFERENCE_EXISTS: "One or more references exist to the schema: {about}",
    ErrorCode.INCOMPATIBLE_SCHEMA: (
        'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: [{about}]'
    ),
}
_T = TypeVar("_T")
_Answer = Callable[..., Awaitable[Any]]


class RegistryError(msgspec.Struct, frozen=True):
    error_code: int
    message: str


class _Refused(BrokerError):
    """An error of Confluent's that nothing else here has."""

    def __init__(self, status: int, number: int, message: str) -> None:
        super().__init__(ErrorCode.INVALID_REQUEST, message)
        self.status = status
        self.number = number


SchemaType = Literal["AVRO", "JSON", "PROTOBUF"]
RegistryMode = Literal["READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD"]


class Candidate(msgspec.Struct, frozen=True, rename="camel"):
    schema: str
    schema_type: SchemaType = "AVRO"
    references: References = ()
    metadata: SchemaMetadata | None = None


class RegisteredSchema(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A schema by its id, or a version of a subject. A missing type means AVRO."""

    schema: str
    id: int
    subject: str | UnsetType = UNSET
    version: int | UnsetType = UNSET
    schema_type: SchemaType = "AVRO"
    references: References = ()
    metadata: SchemaMetadata | None = None


class SubjectVersion(msgspec.Struct, frozen=True):
    subject: str
    version: int


class CompatibilityCheck(msgspec.Struct, frozen=True, omit_defaults=True):
    is_compatible: bool
    messages: list[str] | UnsetType = UNSET


class CompatibilityLevel(msgspec.Struct, frozen=True):
    compatibility: str

    def mode(self) -> schemas.CompatibilityMode:
        """Raises `_Refused`."""
        try:
            found: schemas.CompatibilityMode = msgspec.convert(self.compatibility.upper(), schemas.CompatibilityMode)
        except msgspec.ValidationError:
            known = "none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive"
            raise _Refused(422, 42203, f"Invalid compatibility level. Valid values are {known}") from None
        return found


class SetLevel(msgspec.Struct, frozen=True, rename="camel"):
    compatibility_level: Compatibility


class Mode(msgspec.Struct, frozen=True):
    mode: RegistryMode


_READ_WRITE = Mode("READWRITE")
_FLAG = (bool, False)
#: Type and default of each parameter that a query may have.
_QUERY: dict[str, tuple[Any, Any]] = {
    **dict.fromkeys(("deleted", "deletedOnly", "latestOnly", "permanent", "verbose", "defaultToGlobal"), _FLAG),
    **dict.fromkeys(("subject", "subjectPrefix", "contextPrefix", "format"), (str, "")),
    "offset": (Annotated[int, msgspec.Meta(ge=0)], 0),
    "limit": (int, -1),  # negative: all
}
_PATH = {
    "subject": Subject,
    "id": Annotated[int, msgspec.Meta(ge=1)],
    "version": Annotated[str, msgspec.Meta(pattern=r"^(latest|-1|[1-9][0-9]{0,9})$(?!\n)")],
}


def _refusal(call: HttpCall, error: BrokerError) -> Response:
    """`error` in the form of Confluent's registry."""
    if isinstance(error, _Refused):
        status, number, message = error.status, error.number, error.about
    else:
        status, number = _NUMBERS.get(error.code, (error.code.status, error.code.code))
        number = max(number, error.code.status)  # the registry's numbers are a status, or begin with one: 42201
        names = {name: text.replace(SLASH, "/") for name, text in call.request.path_params.items()}
        names["about"] = error.about
        names["id"] = f"{names['id']} " if "id" in names else ""
        message = _SENTENCES[error.code].format(**names) if error.code in _SENTENCES else str(error)
    return Response(msgspec.json.encode(RegistryError(number, message)), status, media_type=MEDIA_TYPE)


def _serve(method: str, path: str, answer: Any, query: str = "", body: Any = None) -> Callable[[_Answer], RouteHandler]:
    """Declare the handler below; it gets the parameters that `query` names, if there are any."""
    kind = msgspec.defstruct("Query", [(name, *_QUERY[name]) for name in query.split()]) if query else None

    def declare(handler: _Answer) -> RouteHandler:
        @functools.wraps(handler)
        async def served(call: HttpCall) -> Any:
            return await (handler(call) if kind is None else handler(call, call.query(kind, passes_over=True)))

        parameters = {name: _PATH[name] for name in path_names(path)}
        form = {"media_type": MEDIA_TYPE, "refusal": _refusal, "error": RegistryError}
        return routes(method, path, answer, parameters=parameters, query=kind, body=body, **form)(served)

    return declare


def _page(rows: Sequence[_T], query: Any) -> Sequence[_T]:
    return rows[query.offset :][: query.limit if query.limit >= 0 else None]


# -- subjects and versions


@_serve("GET", "/subjects", list[str], "subjectPrefix deleted deletedOnly offset limit")
async def list_subject_names(call: HttpCall, query: Any) -> Sequence[str]:
    there = set(_registry(call).subjects(deleted=query.deleted or query.deletedOnly))
    there -= set(_registry(call).subjects()) if query.deletedOnly else set()
    names = [name for name in sorted(there) if name.startswith(query.subjectPrefix)]
    return _page([name for name in names if call.may(READ, "subject", name)], query)


@_serve("POST", "/subjects/{subject}", RegisteredSchema, "format", Candidate)
async def look_up_schema(call: HttpCall, query: Any) -> RegisteredSchema:
    name = _subject(call, READ)
    return _described(call, _registry(call).find(name, *await _candidate(call)), query)


@_serve("DELETE", "/subjects/{subject}", list[int], "permanent")
async def delete_whole_subject(call: HttpCall, query: Any) -> list[int]:
    name = _subject(call, ADMIN)
    live = _registry(call).subjects()
    if query.permanent and name in live:
        raise _Refused(404, 40405, f"Subject '{name}' was not deleted first before being permanently deleted")
    if not query.permanent and name not in live and name in _registry(call).subjects(deleted=True):
        raise _Refused(404, 40404, f"Subject '{name}' was soft deleted.Set permanent=true to delete permanently")
    return await call.ask(schemas.DeleteSubject(subject=name, permanent=query.permanent))


@_serve("GET", "/subjects/{subject}/metadata", RegisteredSchema, "deleted format")
async def find_by_metadata(call: HttpCall, query: Any) -> RegisteredSchema:
    """Get the latest version that has all of these properties in its metadata.

    The query has a `key` and a `value` of each.
    """
    name, given = _subject(call, READ), call.request.query_params
    wanted = dict(zip(given.getlist("key"), given.getlist("value"), strict=False))
    for number in reversed(_registry(call).versions(name, deleted=query.deleted)):
        found = _registry(call).version(name, number, deleted=True)
        if found.metadata is not None and wanted.items() <= found.metadata.properties.items():
            return _described(call, found, query)
    raise BrokerError(ErrorCode.UNKNOWN_SCHEMA, "no version has this metadata")


@_serve("GET", "/subjects/{subject}/versions", list[int], "deleted deletedOnly offset limit")
async def list_versions(call: HttpCall, query: Any) -> Sequence[int]:
    name, registry = _subject(call, READ), _registry(call)
    there = registry.versions(name, deleted=query.deleted or query.deletedOnly)
    live = set(registry.versions(name)) if query.deletedOnly and name in registry.subjects() else set()
    return _page([number for number in there if number not in live], query)


@_serve("POST", "/subjects/{subject}/versions", RegisteredSchema, "format", Candidate)
async def register_version(call: HttpCall, query: Any) -> RegisteredSchema:
    name = _subject(call, WRITE)
    text = schemas.SchemaText.of(*await _candidate(call))
    return _described(call, await call.ask(schemas.RegisterSchema(subject=name, text=text)), query)


@_serve("GET", "/subjects/{subject}/versions/{version}", RegisteredSchema, "deleted format")
async def get_version(call: HttpCall, query: Any) -> RegisteredSchema:
    return _described(call, _version(call, _subject(call, READ), deleted=query.deleted), query)


@_serve("GET", "/subjects/{subject}/versions/{version}/schema", Any, "deleted format")
async def get_schema_of_version(call: HttpCall, query: Any) -> Any:
    found = _version(call, _subject(call, READ), deleted=query.deleted)
    return msgspec.Raw(_formatted(call, found.id, found.text, query).encode())


@_serve("GET", "/subjects/{subject}/versions/{version}/referencedby", list[int], "offset limit")
async def list_referencing_schemas(call: HttpCall, query: Any) -> Sequence[int]:
    name = _subject(call, READ)
    return _page(_registry(call).referenced_by(name, _version(call, name, deleted=True).version), query)


@_serve("DELETE", "/subjects/{subject}/versions/{version}", int, "permanent")
async def delete_one_version(call: HttpCall, query: Any) -> int:
    name = _subject(call, ADMIN)
    number = _version(call, name, deleted=True).version
    named, live = f"Subject '{name}' Version {number} was", name in _registry(call).subjects()
    if live and number in _registry(call).versions(name):
        if query.permanent:
            raise _Refused(404, 40407, f"{named} not deleted first before being permanently deleted")
    elif not query.permanent:
        raise _Refused(404, 40406, f"{named} soft deleted.Set permanent=true to delete permanently")
    await call.ask(schemas.DeleteVersion(subject=name, version=number, permanent=query.permanent))
    return number


# -- schemas


@_serve("GET", "/schemas", list[RegisteredSchema], "subjectPrefix deleted latestOnly offset limit")
async def list_schemas(call: HttpCall, query: Any) -> Sequence[RegisteredSchema]:
    registry = _registry(call)
    found = []
    for name in registry.subjects(deleted=query.deleted):
        if name.startswith(query.subjectPrefix) and call.may(READ, "subject", name):
            there = registry.versions(name, deleted=query.deleted)
            found += [registry.version(name, each, deleted=True) for each in there[-1 if query.latestOnly else 0 :]]
    return [_described(call, each) for each in _page(found, query)]


@_serve("GET", "/schemas/types", list[str])
async def list_schema_types(call: HttpCall) -> list[str]:
    return sorted(kind.value for kind in SchemaKind)


@_serve("GET", "/schemas/ids/{id}", RegisteredSchema, "format")
async def get_schema(call: HttpCall, query: Any) -> RegisteredSchema:
    return msgspec.structs.replace(_described(call, _by_id(call), query), subject=UNSET, version=UNSET)


@_serve("GET", "/schemas/ids/{id}/schema", Any, "format")
async def get_schema_alone(call: HttpCall, query: Any) -> Any:
    found = _by_id(call)
    return msgspec.Raw(_formatted(call, found.id, found.text, query).encode())


@_serve("GET", "/schemas/ids/{id}/subjects", list[str], "subject deleted offset limit")
async def list_subjects_of_schema(call: HttpCall, query: Any) -> Sequence[str]:
    return _page(list(dict.fromkeys(each.subject for each in _usages(call, query))), query)


@_serve("GET", "/schemas/ids/{id}/versions", list[SubjectVersion], "subject deleted offset limit")
async def list_versions_of_schema(call: HttpCall, query: Any) -> Sequence[SubjectVersion]:
    return _page([SubjectVersion(each.subject, each.version) for each in _usages(call, query)], query)


# -- compatibility


@_serve("POST", "/compatibility/subjects/{subject}/versions", CompatibilityCheck, "verbose", Candidate)
async def check_with_versions(call: HttpCall, query: Any) -> CompatibilityCheck:
    return await _check(call, _subject(call, READ), None, query)


@_serve("POST", "/compatibility/subjects/{subject}/versions/{version}", CompatibilityCheck, "verbose", Candidate)
async def check_with_version(call: HttpCall, query: Any) -> CompatibilityCheck:
    name = _subject(call, READ)
    return await _check(call, name, _version(call, name).version, query)


async def _check(call: HttpCall, name: str, version: int | None, query: Any) -> CompatibilityCheck:
    text, kind, references, _ = await _candidate(call)
    registry = _registry(call)
    problems = await call.slow(
        lambda: call.host.call(lambda _now: registry.check(name, text, kind, references, version))
    )
    return CompatibilityCheck(not problems, [str(each) for each in problems] if query.verbose else UNSET)


@_serve("GET", "/config", SetLevel)
async def get_default_compatibility(call: HttpCall) -> SetLevel:
    return SetLevel(_registry(call).compatibility)


@_serve("PUT", "/config", CompatibilityLevel, body=CompatibilityLevel)
async def put_default_compatibility(call: HttpCall) -> CompatibilityLevel:
    call.must(ADMIN, "broker")
    level = (await call.body(CompatibilityLevel)).mode()
    await call.ask(schemas.SetDefaultCompatibility(mode=level))
    return CompatibilityLevel(level)


@_serve("DELETE", "/config", SetLevel)
async def reset_default_compatibility(call: HttpCall) -> SetLevel:
    call.must(ADMIN, "broker")
    before = _registry(call).compatibility
    await call.ask(schemas.SetDefaultCompatibility(mode="BACKWARD"))
    return SetLevel(before)


@_serve("GET", "/config/{subject}", SetLevel, "defaultToGlobal")
async def get_compatibility(call: HttpCall, query: Any) -> SetLevel:
    name, registry = _subject(call, READ), _registry(call)
    if not registry.has_own_compatibility(name) and not query.defaultToGlobal:
        raise _Refused(404, 40408, f"Subject '{name}' does not have subject-level compatibility configured")
    return SetLevel(registry.compatibility_of(name))


@_serve("PUT", "/config/{subject}", CompatibilityLevel, body=CompatibilityLevel)
async def put_compatibility(call: HttpCall) -> CompatibilityLevel:
    name = _subject(call, ADMIN)
    level = (await call.body(CompatibilityLevel)).mode()
    await call.ask(schemas.SetCompatibility(subject=name, mode=level))
    return CompatibilityLevel(level)


@_serve("DELETE", "/config/{subject}", SetLevel)
async def reset_compatibility(call: HttpCall) -> SetLevel:
    name = _subject(call, ADMIN)
    before = _registry(call).compatibility_of(name)
    await call.ask(schemas.SetCompatibility(subject=name, mode=None))
    return SetLevel(before)


# -- the registry itself


@_serve("GET", "/mode", Mode)
async def get_mode(call: HttpCall) -> Mode:
    return _READ_WRITE


@_serve("GET", "/mode/{subject}", Mode)
async def get_mode_of_subject(call: HttpCall) -> Mode:
    _subject(call, READ)
    return _READ_WRITE


@_serve("PUT", "/mode", Mode, body=Mode)
async def put_mode(call: HttpCall) -> Mode:
    call.must(ADMIN, "broker")
    return await _mode(call)


@_serve("PUT", "/mode/{subject}", Mode, body=Mode)
async def put_mode_of_subject(call: HttpCall) -> Mode:
    _subject(call, ADMIN)
    return await _mode(call)


async def _mode(call: HttpCall) -> Mode:
    wanted = await call.body(Mode)
    if wanted != _READ_WRITE:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"the mode {wanted.mode} is not served, only READWRITE")
    return wanted


@_serve("GET", "/contexts", list[str], "contextPrefix offset limit")
async def list_contexts(call: HttpCall, query: Any) -> Sequence[str]:
    """List the contexts: there is the default one."""
    return _page([name for name in (".",) if name.startswith(query.contextPrefix)], query)


@_serve("GET", "/v1/metadata/id", dict[str, Any])
async def get_cluster_id(call: HttpCall) -> dict[str, Any]:
    clusters = {"kafka-cluster": CLUSTER_ID, "schema-registry-cluster": "schema-registry"}
    return {"scope": {"path": [], "clusters": clusters}, "id": ""}


@_serve("GET", "/v1/metadata/version", dict[str, str])
async def get_registry_version(call: HttpCall) -> dict[str, str]:
    return {"version": program_version(), "commitId": ""}


# -- inside


def _registry(call: HttpCall) -> SchemaRegistry:
    return call.broker.schemas.registry


def _subject(call: HttpCall, use: Any) -> str:
    name: str = call.path("subject", Subject)
    call.must(use, "subject", name)
    return name


def _version(call: HttpCall, name: str, *, deleted: bool = False) -> SchemaVersion:
    text: str = call.path("version", str)
    if text in {"latest", "-1"}:
        return _registry(call).version(name, deleted=deleted)
    if not text.isdecimal() or len(text) > 10 or not 1 <= int(text) < 2**31:
        allowed = 'Allowed values are between [1, 2^31-1] and the string "latest"'
        raise _Refused(422, 42202, f"The specified version '{text[:20]}' is not a valid version id. {allowed}")
    return _registry(call).version(name, int(text), deleted=deleted)


async def _candidate(call: HttpCall) -> tuple[str, SchemaKind, References, SchemaMetadata | None]:
    body = await call.body(Candidate)
    if body.schema_type == SchemaKind.PROTOBUF:
        # Read here, so that it is known where the broker's lock is held; what is wrong is said there.
        from broker_core.schemas.protobuf_text import file_of

        with contextlib.suppress(InvalidSchemaError):
            await call.slow(lambda: file_of(body.schema))
    return body.schema, SchemaKind(body.schema_type), body.references, body.metadata


def _described(call: HttpCall, found: SchemaVersion, query: Any = None) -> RegisteredSchema:
    text = _formatted(call, found.id, found.text, query)
    kind: SchemaType = found.kind.value
    return RegisteredSchema(text, found.id, found.subject, found.version, kind, found.references, found.metadata)


def _formatted(call: HttpCall, schema_id: int, text: str, query: Any) -> str:
    """The text, or what the client reads instead where it asks for it."""
    if query is None or query.format != "serialized":
        return text
    return getattr(_registry(call).schema(schema_id), "serialized", text)


def _number(call: HttpCall) -> int:
    text: str = call.path("id", str)
    if not text.isdecimal() or len(text) > 9:
        raise BrokerError(ErrorCode.UNKNOWN_SCHEMA, f"id {text[:20]}")
    return int(text)


def _by_id(call: HttpCall) -> SchemaVersion:
    """Some version with the id. Reading needs the right to one subject that has it."""
    usages = _registry(call).usages(_number(call), deleted=True)
    if not any(call.may(READ, "subject", each.subject) for each in usages):
        call.must(READ, "subject", usages[0].subject)
    return usages[0]


def _usages(call: HttpCall, query: Any) -> list[SchemaVersion]:
    found = _registry(call).usages(_number(call), deleted=query.deleted)
    return [each for each in found if query.subject in ("", each.subject) and call.may(READ, "subject", each.subject)]
