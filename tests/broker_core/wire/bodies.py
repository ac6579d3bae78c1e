"""Requests and replies of every kind, made up by Hypothesis from their types."""

from __future__ import annotations

import msgspec
from hypothesis import strategies as st

from broker_core.wire.apis import APIS, Api
from broker_core.wire.body import Body, ErrorBody

_CONSTRAINED = {int: st.integers(0, 2**31 - 1)}


def value_of(kind: msgspec.inspect.Type) -> st.SearchStrategy:
    """Something that a field of this type may hold."""
    info = msgspec.inspect
    match kind:
        case info.IntType():
            return st.integers(
                kind.ge if kind.ge is not None else -(2**63), kind.le if kind.le is not None else 2**63 - 1
            )
        case info.FloatType():
            return st.floats(allow_nan=False, allow_infinity=False)
        case info.BoolType():
            return st.booleans()
        case info.StrType():
            return st.text(max_size=8)
        case info.BytesType():
            return st.binary(max_size=20)
        case info.MemoryViewType():
            return st.binary(max_size=20).map(memoryview)
        case info.NoneType():
            return st.none()
        case info.LiteralType():
            return st.sampled_from(kind.values)
        case info.EnumType():
            return st.sampled_from(list(kind.cls))
        case info.UnionType():
            return st.one_of([value_of(each) for each in kind.types])
        case info.VarTupleType():
            return st.lists(value_of(kind.item_type), max_size=3).map(tuple)
        case info.TupleType():
            return st.tuples(*[value_of(each) for each in kind.item_types])
        case info.ListType():
            return st.lists(value_of(kind.item_type), max_size=3)
        case info.DictType():
            return st.dictionaries(value_of(kind.key_type), value_of(kind.value_type), max_size=3)
        case info.StructType():
            return struct_of(kind.cls)
        case info.AnyType():
            return st.none() | st.integers(0, 9) | st.text(max_size=3)
        case _:
            raise AssertionError(f"no strategy for {kind}")


def struct_of(cls: type) -> st.SearchStrategy:
    """A struct; one with rules of its own is what its defaults say."""
    if hasattr(cls, "__post_init__"):
        return st.builds(cls)
    found = msgspec.inspect.type_info(cls)
    assert isinstance(found, msgspec.inspect.StructType)
    return st.builds(cls, **{field.name: value_of(field.type) for field in found.fields})


def requests() -> st.SearchStrategy[tuple[Api, Body]]:
    """Any request."""
    return st.sampled_from(APIS).flatmap(lambda api: st.tuples(st.just(api), struct_of(api.request)))


def exchanges() -> st.SearchStrategy[tuple[Api, Body, Body]]:
    """A request of any kind with a reply to it."""
    return st.sampled_from(APIS).flatmap(
        lambda api: st.tuples(st.just(api), struct_of(api.request), struct_of(api.reply) | struct_of(ErrorBody))
    )
