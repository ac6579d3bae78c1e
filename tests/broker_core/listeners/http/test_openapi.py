"""The OpenAPI file: true to what is served, as Schemathesis finds it, and whole."""

import re
import subprocess
import sys

import pytest

from broker_core.clients.admin import Admin
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.limits import GuardConfig
from tests.broker_core.admin import SchemaAdmin

B_ROWS = {
    ("/", "get"),
    ("/health", "get"),
    ("/topics/register", "post"),
    ("/producers/register", "post"),
    ("/consumers/register", "post"),
    ("/produce", "post"),
    ("/consume", "post"),
    ("/commit", "post"),
    ("/stats", "get"),
}


def test_it_describes_every_operation_with_its_errors(call):
    found = call.done("GET", "/openapi.json")
    assert found["openapi"].startswith("3.1")
    operations = {(path, method) for path, item in found["paths"].items() for method in item}
    assert operations >= B_ROWS
    assert len(operations) > 60
    identifiers = set()
    for path, item in found["paths"].items():
        for operation in item.values():
            identifiers.add(operation["operationId"])
            assert operation["summary"], path
            assert {"403", "429", "503"} <= operation["responses"].keys(), path
            assert re.findall(r"{(\w+)}", path) == [
                each["name"] for each in operation["parameters"] if each["in"] == "path"
            ]
    assert len(identifiers) == len(operations)
    assert set(found["paths"]["/consume"]["post"]["responses"]) >= {"200", "204", "404", "422"}
    assert found["paths"]["/health"]["get"]["security"] == []
    assert found["security"] == [{"token": []}, {}]


def test_it_says_where_a_token_is_needed(opened, connect):
    listener = opened(access=Access.of_token("a token of some length"))
    assert connect(listener).done("GET", "/openapi.json")["security"] == [{"token": []}]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_schemathesis_finds_nothing(opened, tmp_path):
    listener = opened(limits=GuardConfig(max_wait_ms=50))
    admin = Admin(listener.host)
    admin.create_topic("orders", 3)
    admin.create_queue("jobs")
    SchemaAdmin(listener.host).register("orders", '{"type": "object"}')
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "from schemathesis.cli import schemathesis; schemathesis()",
            "--no-color",
            "run",
            f"{listener.url}/openapi.json",
            "--max-examples=3",
            "--request-timeout=60",
            "--continue-on-failure",
            "--seed=6",
            "--generation-database=none",
        ],
        cwd=tmp_path,  # it leaves a folder behind
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-8_000:] + run.stderr[-2_000:]
    assert "Tested: " in run.stdout
