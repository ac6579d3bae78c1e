"""Puts the page together."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import resources
from spark_reports.collect import Made
from spark_reports.page import text
from spark_reports.page.charts import chart_data
from spark_reports.page.figures import key_figures
from spark_reports.page.findings import find
from spark_reports.session import SessionInfo

TEMPLATE = "report.html.j2"

#: What a `session.json` of another program may lack.
_EMPTY: dict[str, Any] = {
    "scenario": "",
    "seed": None,
    "clock": "",
    "ended": "",
    "started_at": "",
    "session_id": "",
    "versions": {},
}


def render(info: SessionInfo, made: Made) -> str:
    """The page as one HTML text: no other file, no network, nothing of what it shows is markup."""
    folder = resources.path("report")
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= text.FILTERS
    tables = {name: table.to_pylist() for name, table in made.tables.items()}
    whole = {**tables, "latency_all": sorted(_latencies(tables), key=lambda row: row["measure"] != "delivered")}
    scripts = [_script((folder / name).read_text(encoding="utf-8")) for name in ("echarts.min.js", "report.js")]
    return environment.get_template(TEMPLATE).render(
        info=info,
        session=_EMPTY | info.metadata,
        tables=whole,
        duration_ns=made.duration_ns,
        width_ns=made.width_ns,
        findings=find(tables, made.duration_ns),
        figures=key_figures(tables, made.duration_ns),
        wrong=[row for row in tables["reconciliation"] if not row["equal"]],
        style=Markup((folder / "report.css").read_text(encoding="utf-8")),
        scripts=[Markup(script) for script in scripts],
        hashes=" ".join(_hash(script) for script in scripts),
        data=Markup(_json(chart_data(tables, made.duration_ns, made.width_ns))),
        file_names=sorted([*tables, "findings"]),
    )


def _latencies(tables: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The whole first, then each group; the first delivery before the acknowledgement (the sort is "
    "stable)."""
    return [*tables["latency"], *tables["latency_by_group"]]


def _script(source: str) -> str:
    return source.replace("</script", "<\\/script")


def _hash(script: str) -> str:
    """What the page's content security policy allows: this script and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _json(data: Mapping[str, Any]) -> str:
    """JSON that ends no script element and opens no comment."""
    plain = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
