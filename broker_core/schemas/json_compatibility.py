"""Containment of JSON Schemas: whether a schema accepts every document that another one accepts.

Containment is undecidable in general, so the answer is conservative: "compatible" is proved, and anything that cannot
be proved is a problem. In Confluent's terms: a property may be added to a closed content model and removed from an open
one, and no further property may be required.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from broker_core.schemas.json_draft import Draft, local_target, path_of
from broker_core.schemas.json_facts import SchemaFacts, Schemas, items_of, kinds_of, same
from broker_core.schemas.json_schema import JsonSchema
from broker_core.schemas.problem import Problem, Steps, pointer_to, shown

Path = tuple[object, ...]
Chosen = frozenset[tuple[int, str]]

_OF_TYPE = {name: {"type": name} for name in ("null", "boolean", "integer", "number", "string", "array", "object")}

# keyword: (kind, whether the reader's must not be above the writer's, message)
_BOUNDS = {
    "maxLength": ("string", False, "texts may have more characters than {}"),
    "minLength": ("string", True, "texts may have fewer characters than {}"),
    "maxItems": ("array", False, "lists may have more items than {}"),
    "minItems": ("array", True, "lists may have fewer items than {}"),
    "maxProperties": ("object", False, "objects may have more properties than {}"),
    "minProperties": ("object", True, "objects may have fewer properties than {}"),
}
# keyword: (kind, the keyword that says the same if no subschema evaluates anything)
_UNEVALUATED = {"unevaluatedItems": ("array", "items"), "unevaluatedProperties": ("object", "additionalProperties")}


class JsonComparison:
    """The reasons why `reader` may refuse a document of `writer`, with pointers into `reader`."""

    def __init__(self, reader: JsonSchema, writer: JsonSchema, steps: Steps) -> None:
        self._reader = reader
        self._writer = writer
        self._steps = steps
        self._assumed: set[tuple[frozenset[int], int]] = set()
        self._if_then: dict[int, Any] = {}  # kept alive, so that their ids stay unique

    def problems(self, written: Schemas, read: Any, path: Path) -> list[Problem]:
        """The reasons why `read` may refuse a value that all of `written` accept, at a new location of the document."""
        pair = (frozenset(id(part) for part in written), id(read))
        if pair in self._assumed:
            return []  # recursion: by induction over the document it holds if the rest holds
        self._assumed.add(pair)
        try:
            return self._here(written, read, path, frozenset())
        finally:
            self._assumed.discard(pair)

    def _here(self, written: Schemas, read: Any, path: Path, chosen: Chosen) -> list[Problem]:
        """The problems of `read` at this location; `chosen` are the cases of `written` chosen there."""
        self._steps.take()
        if read is True or read == {}:
            return []
        facts = SchemaFacts(self._writer, written)
        if facts.nothing or any(facts.cannot_have(name) for name in facts.required):
            return []
        if read is False:
            return [Problem(pointer_to(*path), "nothing is allowed here")]
        values = facts.values()
        if values is not None:
            refused = [value for value in values if not self._reader.accepts(value, read)]
            return [Problem(pointer_to(*path), f"the value {shown(value)} is not accepted") for value in refused]
        whole = list(self._asked(facts, self._reader.modern(read), path, chosen))
        if not whole:
            return []
        for split, cases in self._splits(facts, chosen):
            parts = facts.together
            found = [problem for case in cases for problem in self._here((*parts, case), read, path, chosen | {split})]
            if not found:
                return []
            whole = found if len(set(found)) < len(set(whole)) else whole
        return whole

    def _splits(self, facts: SchemaFacts, chosen: Chosen) -> Iterator[tuple[tuple[int, str], list[Any]]]:
        """Case splits of the written schemas, each with the schemas of its cases."""
        for part in facts.parts:
            for keyword in ("anyOf", "oneOf"):
                if keyword in part and (id(part), keyword) not in chosen:
                    yield (id(part), keyword), part[keyword]
            if "if" in part and (id(part), "if") not in chosen:
                then = self._if_then.setdefault(id(part), {"allOf": [part["if"], part.get("then", True)]})
                yield (id(part), "if"), [then, part.get("else", True)]
        types = {"number" if kind == "fraction" else kind for kind in facts.kinds}
        types -= {"integer"} if "number" in types else set()
        if len(types) > 1 and (0, "type") not in chosen:
            yield (0, "type"), [_OF_TYPE[name] for name in sorted(types)]

    # -- keywords of the reader

    def _asked(self, facts: SchemaFacts, read: dict[str, Any], path: Path, chosen: Chosen) -> Iterator[Problem]:
        if "$ref" in read:
            target = local_target(self._reader.document, read["$ref"])
            yield from self._here(facts.together, target, path_of(read["$ref"]), chosen)
        accepted = kinds_of(read)
        if self._reader.draft is Draft.D4 is not self._writer.draft and "fraction" not in accepted:
            accepted -= {"integer"}  # 1.0 is not one in draft-04
        surplus = facts.kinds - accepted
        if surplus:
            names = " or ".join(sorted("number" if kind == "fraction" else kind for kind in surplus))
            yield Problem(pointer_to(*path, "type"), f"a value of type {names} is not accepted")
        for name in ("enum", "const"):
            if name in read:
                yield Problem(pointer_to(*path, name), "values other than these may have been written")
        yield from self._combined(facts, read, path, chosen)
        for keyword, (kind, other) in _UNEVALUATED.items():
            asked = keyword in read and other not in read and kind in facts.kinds
            if asked and not any(same(self._writer, part, self._reader, read) for part in facts.parts):
                yield Problem(pointer_to(*path, keyword), f"{keyword} may not hold for what was written")
        yield from self._bounded(facts, read, path)
        if facts.kinds & {"integer", "fraction"}:
            yield from self._numbers(facts, read, path)
        if "string" in facts.kinds and "pattern" in read and not facts.says("pattern", read["pattern"]):
            yield Problem(pointer_to(*path, "pattern"), "texts that do not match the pattern may have been written")
        if "array" in facts.kinds:
            yield from self._items(facts, read, path)
            if "contains" in read:
                yield from self._contains(facts, read, path)
        if "object" in facts.kinds:
            yield from self._properties(facts, read, path)
            yield from self._dependent(facts, read, path, chosen)

    def _combined(self, facts: SchemaFacts, read: dict[str, Any], path: Path, chosen: Chosen) -> Iterator[Problem]:
        parts = facts.together
        for index, inner in enumerate(read.get("allOf", ())):
            yield from self._here(parts, inner, (*path, "allOf", index), chosen)
        for keyword in ("anyOf", "oneOf"):
            if keyword in read and not self._says_the_same(facts, read, keyword):
                fits = [not self._here(parts, branch, path, chosen) for branch in read[keyword]]
                yield from self._alternatives(facts, read[keyword], fits, (*path, keyword), keyword == "oneOf")
        if "not" in read and not self._apart(facts, read["not"]) and not self._is_forbidden(facts, read["not"]):
            yield Problem(pointer_to(*path, "not"), "what is forbidden here may have been written")
        if "if" in read and not self._says_the_same(facts, read, "if"):
            for word in ("then", "else"):
                yield from self._here(parts, read.get(word, True), (*path, word), chosen)

    def _alternatives(
        self, facts: SchemaFacts, branches: list[Any], fits: list[bool], path: Path, only_one: bool
    ) -> Iterator[Problem]:
        if not any(fits):
            yield Problem(pointer_to(*path), "no alternative is certain to accept what may have been written")
        elif only_one:
            first = fits.index(True)
            for index, branch in enumerate(branches):
                if index != first and not self._apart(facts, branch):
                    message = f"alternative {index} may accept the same as alternative {first}, and only one must"
                    yield Problem(pointer_to(*path, index), message)

    def _apart(self, facts: SchemaFacts, read: Any) -> bool:
        there = SchemaFacts(self._reader, (read,))
        if there.nothing or not facts.kinds & there.kinds:
            return True
        if facts.kinds != {"object"} or there.kinds != {"object"}:
            return False
        for name in facts.required & there.required:
            one = SchemaFacts(self._writer, facts.of_property(name)).values()
            other = SchemaFacts(self._reader, there.of_property(name)).values()
            if one is not None and other is not None and not any(value in other for value in one):
                return True
        return False

    def _is_forbidden(self, facts: SchemaFacts, read: Any) -> bool:
        back = JsonComparison(self._writer, self._reader, self._steps)
        return any("not" in part and not back.problems((read,), part["not"], ()) for part in facts.parts)

    def _says_the_same(self, facts: SchemaFacts, read: dict[str, Any], keyword: str) -> bool:
        words = (keyword, "then", "else") if keyword == "if" else (keyword,)
        return any(
            all(
                (word in part) == (word in read)
                and (word not in read or same(self._writer, part[word], self._reader, read[word]))
                for word in words
            )
            for part in facts.parts
        )

    def _bounded(self, facts: SchemaFacts, read: dict[str, Any], path: Path) -> Iterator[Problem]:
        for keyword, (kind, lower, words) in _BOUNDS.items():
            if keyword not in read or kind not in facts.kinds or (lower and not read[keyword]):
                continue
            known = facts.tightest(keyword, highest=lower)
            if keyword == "minProperties":
                known = max(known or 0, len(facts.required))
            if known is None or (known < read[keyword] if lower else known > read[keyword]):
                yield Problem(pointer_to(*path, keyword), words.format(read[keyword]))
        if read.get("uniqueItems") and "array" in facts.kinds:
            at_most = facts.tightest("maxItems", highest=False)
            if not facts.says("uniqueItems", True) and (at_most is None or at_most > 1):
                yield Problem(pointer_to(*path, "uniqueItems"), "lists with equal items may have been written")

    def _numbers(self, facts: SchemaFacts, read: dict[str, Any], path: Path) -> Iterator[Problem]:
        for keyword, open_keyword, lower in (
            ("minimum", "exclusiveMinimum", True),
            ("maximum", "exclusiveMaximum", False),
        ):
            closed, opened = (facts.tightest(word, highest=lower) for word in (keyword, open_keyword))
            beyond: Callable[[Any, Any], bool] = (lambda a, b: a < b) if lower else (lambda a, b: a > b)
            for word in (keyword, open_keyword):
                limit = read.get(word)
                if limit is None or (opened is not None and not beyond(opened, limit)):
                    continue
                if closed is None or beyond(closed, limit) or (word == open_keyword and closed == limit):
                    side = "below" if lower else "above"
                    yield Problem(pointer_to(*path, word), f"numbers {side} {limit} may have been written")
        if "multipleOf" in read:
            of = Fraction(str(read["multipleOf"]))
            if not any((known / of).denominator == 1 for known in facts.multiples()):
                message = f"numbers that are not a multiple of {read['multipleOf']} may have been written"
                yield Problem(pointer_to(*path, "multipleOf"), message)

    def _items(self, facts: SchemaFacts, read: dict[str, Any], path: Path) -> Iterator[Problem]:
        first, rest = items_of(read)
        at_most = facts.tightest("maxItems", highest=False)
        word, more = "prefixItems", "items"
        if self._reader.draft < Draft.D2020:
            word, more = "items", "additionalItems" if first else "items"
        if "unevaluatedItems" in read:
            more = "unevaluatedItems"
        last = max(len(first), facts.first_items())
        for index in range(last + 1):
            if at_most is not None and index >= at_most:
                return
            own = index < len(first)
            where = (word, index) if own else (more,)
            yield from self.problems(facts.item(index), first[index] if own else rest, (*path, *where))

    def _contains(self, facts: SchemaFacts, read: dict[str, Any], path: Path) -> Iterator[Problem]:
        wanted, back = read["contains"], JsonComparison(self._writer, self._reader, self._steps)
        least, most = read.get("minContains", 1), read.get("maxContains")
        known = [part for part in facts.parts if "contains" in part]
        if least and not any(
            part.get("minContains", 1) >= least and not self.problems((part["contains"],), wanted, path)
            for part in known
        ):
            word = "minContains" if "minContains" in read else "contains"
            yield Problem(pointer_to(*path, word), f"lists may have fewer than {least} items as `contains` has them")
        at_most = facts.tightest("maxItems", highest=False)
        if (
            most is not None
            and (at_most is None or at_most > most)
            and not any(
                part.get("maxContains", most + 1) <= most and not back.problems((wanted,), part["contains"], path)
                for part in known
            )
        ):
            message = f"lists may have more than {most} items as `contains` has them"
            yield Problem(pointer_to(*path, "maxContains"), message)

    def _properties(self, facts: SchemaFacts, read: dict[str, Any], path: Path) -> Iterator[Problem]:
        properties, patterns = read.get("properties", {}), read.get("patternProperties", {})
        for name in read.get("required", ()):
            has_default = isinstance(inner := properties.get(name), dict) and "default" in inner  # read instead
            if name not in facts.required and not has_default:
                yield Problem(pointer_to(*path, "required"), f"{shown(name)} is required, but may be missing")
        if "propertyNames" in read:
            known = tuple(part["propertyNames"] for part in facts.parts if "propertyNames" in part)
            yield from self.problems((*known, _OF_TYPE["string"]), read["propertyNames"], (*path, "propertyNames"))
        for name in sorted(facts.property_names() | properties.keys()):
            yield from self._property(facts, read, name, path)
        for source, inner in patterns.items():
            for case in facts.of_other_properties(source, ()):
                yield from self.problems(case, inner, (*path, "patternProperties", source))
        others = read.get("additionalProperties", True)
        for case in facts.of_other_properties(None, patterns):
            where = (*path, _others(read))
            if others is False and self.problems(case, False, where):
                yield Problem(pointer_to(*where), "other properties may have been written, and are not accepted")
                break
            yield from self.problems(case, others, where)

    def _property(self, facts: SchemaFacts, read: dict[str, Any], name: str, path: Path) -> Iterator[Problem]:
        written = facts.of_property(name)
        asked: list[tuple[Path, Any]] = (
            [(("properties", name), read["properties"][name])] if name in read.get("properties", {}) else []
        )
        for source, inner in read.get("patternProperties", {}).items():
            if self._reader.finds(source, name):
                asked.append((("patternProperties", source), inner))
        if not asked and read.get("additionalProperties", True) is False:
            if not SchemaFacts(self._writer, written).nothing:
                message = f"the property {shown(name)} may have been written, and is not accepted"
                yield Problem(pointer_to(*path, _others(read)), message)
            return
        for where, inner in asked or [((_others(read),), read.get("additionalProperties", True))]:
            found = self.problems(written, inner, (*path, *where))
            if found and all(part is True or part == {} for part in written):
                message = f"the property {shown(name)} may have been written with anything, and now has a schema"
                yield Problem(pointer_to(*path, *where), message)
            else:
                yield from found

    def _dependent(self, facts: SchemaFacts, read: dict[str, Any], path: Path, chosen: Chosen) -> Iterator[Problem]:
        old = self._reader.draft <= Draft.D7
        for keyword in ("dependentRequired", "dependentSchemas"):
            for name, asked in read.get(keyword, {}).items():
                if facts.cannot_have(name):
                    continue
                known = [part[keyword][name] for part in facts.parts if name in part.get(keyword, {})]
                where = (*path, "dependencies" if old else keyword, name)
                if keyword == "dependentSchemas":
                    there = (*facts.together, *known, {"required": [name]})
                    yield from self._here(there, asked, where, chosen)
                elif not facts.required.union(*known).issuperset(asked):
                    yield Problem(pointer_to(*where), f"what {shown(name)} requires may be missing")


def _others(read: dict[str, Any]) -> str:
    """The keyword for properties that no other keyword names."""
    return "unevaluatedProperties" if "unevaluatedProperties" in read else "additionalProperties"
