"""/v1/schemas: the registry."""

OPEN = {"type": "object", "properties": {"book": {"type": "integer"}}}
STRICTER = {**OPEN, "required": ["book"]}
PATH = "/v1/schemas/order"


def test_versions_are_registered_found_compared_and_deleted(call):
    first = call("POST", f"{PATH}/versions", {"schema": OPEN})
    assert first.status == 201
    assert (first.json["version"], first.json["kind"]) == (1, "JSON")
    again = call.done("POST", f"{PATH}/versions", {"schema": OPEN})
    assert again["version"] == 1
    call.done("PUT", f"{PATH}/compatibility", {"mode": "NONE"})
    assert call.done("POST", f"{PATH}/versions", {"schema": STRICTER})["version"] == 2
    assert call.done("GET", PATH) == {"subject": "order", "compatibility": "NONE", "versions": [1, 2]}
    assert call.done("GET", f"{PATH}/versions/1")["id"] == first.json["id"]
    changes = call.done("GET", f"{PATH}/diff?before=1")
    assert [(each["what"], each["pointer"]) for each in changes] == [("added", "/required")]
    assert call("DELETE", f"{PATH}/versions/1").status == 204
    assert call.get(f"{PATH}/versions/1").status == 404
    assert call.done("DELETE", PATH) == [2]
    assert call.get(PATH).status == 404


def test_what_is_not_compatible_is_refused_and_checked_beforehand(call):
    call.done("POST", f"{PATH}/versions", {"schema": OPEN})
    checked = call.done("POST", f"{PATH}/check", {"schema": STRICTER})
    assert checked["compatible"] is False and checked["problems"]
    answer = call("POST", f"{PATH}/versions", {"schema": STRICTER})
    assert (answer.status, answer.json["error"]) == (409, "INCOMPATIBLE_SCHEMA")
    assert call.done("POST", f"{PATH}/check", {"schema": OPEN}) == {"compatible": True, "problems": []}


def test_what_is_no_schema_is_told_so(call):
    assert call("POST", f"{PATH}/versions", {"schema": {"type": "colour"}}).json["error"] == "INVALID_SCHEMA"
    assert call.done("POST", f"{PATH}/check", {"schema": {"type": "colour"}})["compatible"] is False


def test_avro_and_text(call):
    record = '{"type": "record", "name": "Order", "fields": [{"name": "book", "type": "long"}]}'
    assert call.done("POST", f"{PATH}/versions", {"schema": record, "kind": "AVRO"})["kind"] == "AVRO"


def test_the_mode_of_all(call):
    call.done("POST", f"{PATH}/versions", {"schema": OPEN})
    call.done("PUT", "/v1/schemas", {"mode": "FULL_TRANSITIVE"})
    found = call.done("GET", "/v1/schemas")
    assert (found["compatibility"], found["subjects"][0]["compatibility"]) == ("FULL_TRANSITIVE", "FULL_TRANSITIVE")
    call.done("PUT", f"{PATH}/compatibility", {"mode": "BACKWARD"})
    call.done("PUT", f"{PATH}/compatibility", {"mode": None})
    assert call.done("GET", PATH)["compatibility"] == "FULL_TRANSITIVE"
