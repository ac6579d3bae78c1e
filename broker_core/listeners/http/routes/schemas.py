"""The schema registry, in the words of Confluent's."""

from __future__ import annotations

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import ADMIN, READ, WRITE, Call
from broker_core.listeners.http.models import schemas as shapes
from broker_core.listeners.http.models.basics import Version
from broker_core.listeners.http.routing import Operations
from broker_core.schemas.compatibility import Compatibility, SchemaKind

operation = Operations("Schemas")


@operation("GET", "/v1/schemas", shapes.SubjectsAnswer)
async def list_subjects(call: Call) -> shapes.SubjectsAnswer:
    """All subjects that the caller may read."""
    registry = call.context.schemas.registry

    def look(_now: int) -> shapes.SubjectsAnswer:
        names = [name for name in registry.subjects() if call.may(READ, "subject", name)]
        return shapes.SubjectsAnswer(
            compatibility=registry.compatibility.value, subjects=[_subject(call, name) for name in names]
        )

    return call.host.call(look)


@operation("PUT", "/v1/schemas", status=204, body=shapes.SetDefaultCompatibility)
async def set_default_compatibility(call: Call) -> None:
    """Choose the mode of subjects that have none of their own."""
    call.must(ADMIN, "broker")
    body = await call.body(shapes.SetDefaultCompatibility)
    await call.slow(lambda: call.context.schemas.set_compatibility(Compatibility[body.mode]))


@operation("GET", "/v1/schemas/{subject}", shapes.SubjectAnswer)
async def describe_subject(call: Call) -> shapes.SubjectAnswer:
    """A subject's versions and mode."""
    name = call.name_of("subject", READ)
    return call.host.call(lambda _now: _subject(call, name))


@operation("DELETE", "/v1/schemas/{subject}", shapes.Versions)
async def delete_subject(call: Call) -> shapes.Versions:
    """Delete all versions of a subject."""
    name = call.name_of("subject", ADMIN)
    return shapes.Versions(versions=list(await call.slow(lambda: call.context.schemas.delete_subject(name))))


@operation("PUT", "/v1/schemas/{subject}/compatibility", status=204, body=shapes.SetCompatibility)
async def set_compatibility(call: Call) -> None:
    """Choose which versions of a subject must be able to read which."""
    name = call.name_of("subject", ADMIN)
    body = await call.body(shapes.SetCompatibility)
    mode = None if body.mode is None else Compatibility[body.mode]
    await call.slow(lambda: call.context.schemas.set_compatibility(mode, name))


@operation(
    "POST",
    "/v1/schemas/{subject}/versions",
    shapes.VersionAnswer,
    status=201,
    body=shapes.SchemaText,
    errors=(409,),
)
async def register_schema(call: Call) -> shapes.VersionAnswer:
    """Register a new version; the same schema again is the version that there is."""
    name = call.name_of("subject", WRITE)
    body = await call.body(shapes.SchemaText)
    return shapes.VersionAnswer.of(
        await call.slow(lambda: call.context.schemas.register(name, _text(body), SchemaKind(body.kind)))
    )


@operation("GET", "/v1/schemas/{subject}/versions/{version}", shapes.VersionAnswer)
async def describe_version(call: Call) -> shapes.VersionAnswer:
    """One version of a subject."""
    name, version = call.name_of("subject", READ), call.path("version", Version)
    return shapes.VersionAnswer.of(call.host.call(lambda _now: call.context.schemas.registry.version(name, version)))


@operation("DELETE", "/v1/schemas/{subject}/versions/{version}", status=204)
async def delete_version(call: Call) -> None:
    """Delete one version of a subject; its number is not given again."""
    name, version = call.name_of("subject", ADMIN), call.path("version", Version)
    await call.slow(lambda: call.context.schemas.delete_version(name, version))


@operation("POST", "/v1/schemas/{subject}/check", shapes.CheckAnswer, body=shapes.SchemaText)
async def check_schema(call: Call) -> shapes.CheckAnswer:
    """Say whether a schema could be registered, and what speaks against it; nothing is changed."""
    name = call.name_of("subject", READ)
    body = await call.body(shapes.SchemaText)
    try:
        found = await call.slow(lambda: call.context.schemas.check(name, _text(body), SchemaKind(body.kind)))
        problems = [str(problem) for problem in found]
    except BrokerError as error:
        if error.code is not ErrorCode.INVALID_SCHEMA:
            raise
        problems = [str(error)]
    return shapes.CheckAnswer(compatible=not problems, problems=problems)


@operation("GET", "/v1/schemas/{subject}/diff", shapes.DiffAnswer, query=shapes.DiffQuery)
async def diff_schemas(call: Call) -> shapes.DiffAnswer:
    """What differs between two versions of a subject."""
    name = call.name_of("subject", READ)
    query = call.query(shapes.DiffQuery)
    changes = await call.slow(
        lambda: call.context.schemas.diff(name, query.before, "latest" if query.after is None else query.after)
    )
    return shapes.DiffAnswer(
        changes=[
            shapes.DiffChange(what=each.what, pointer=each.pointer, before=each.before, after=each.after)
            for each in changes
        ]
    )


def _text(body: shapes.SchemaText) -> str:
    return body.schema if isinstance(body.schema, str) else msgspec.json.encode(body.schema).decode()


def _subject(call: Call, name: str) -> shapes.SubjectAnswer:
    registry = call.context.schemas.registry
    return shapes.SubjectAnswer(
        subject=name, compatibility=registry.compatibility_of(name).value, versions=list(registry.versions(name))
    )
