"""One HTML text out of a template, its style, its scripts and its data: nothing else is needed to read it."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import resources
from resources.account import STATES
from resources.colours import DARK_HUES, LIGHT_HUES, ink_on
from spark_reports import text
from spark_reports.findings.remedies import remedy_of
from spark_reports.request.request import COMPARE, HISTORY, SESSION
from spark_reports.sessions.session import is_remote

ALL_FILES = ("CSV", "Parquet")
_PAGES = {SESSION: "report", COMPARE: "comparison", HISTORY: "history"}  # template and script, by kind of report
_SHARED = ("layout.html.j2", "macros.html.j2")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(resources.path("report")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: text.visible(value) if type(value) is str else value,
    )
    environment.filters |= text.FILTERS
    return environment


def compile_templates(mode: str) -> None:
    """Compile what a page of this kind is made of, so that `document` finds it compiled."""
    for name in (*_SHARED, f"{_PAGES[mode]}.html.j2"):
        _environment().get_template(name)


def document(mode: str, data: Mapping[str, Any], **values: Any) -> str:
    """The page of a kind of report: its template with `values`, and a script that draws `data`."""
    folder = resources.path("report")

    def read(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    drawing = "".join(map(read, ("plots.js", f"{_PAGES[mode]}.js", "drawing.js")))
    scripts = [_script(read("echarts.min.js")), _script(f'"use strict";\n(() => {{\n{drawing}}})();\n')]
    return (
        _environment()
        .get_template(f"{_PAGES[mode]}.html.j2")
        .render(
            style=Markup(_hues() + read("report.css")),
            scripts=[Markup(script) for script in scripts],
            hashes=" ".join(_hash(script) for script in scripts),
            data=Markup(_json(data)),
            **({"verdicts": (), "remedy_of": remedy_of, "states": STATES} | values),
        )
    )


def _hues() -> str:
    """The shared hues as --c0, --c1, ..., and --i0, ... for what is written on them; for light pages and for dark."""
    light, dark = (
        "".join(f"--c{number}:{hue};--i{number}:{ink_on(hue)};" for number, hue in enumerate(hues))
        for hues in (LIGHT_HUES, DARK_HUES)
    )
    return f':root{{{light}}}\n@media (prefers-color-scheme: dark){{:root:not([data-theme="light"]){{{dark}}}}}\n'


def _script(source: str) -> str:
    return source.replace("</script", "<\\/script")


def _hash(script: str) -> str:
    """The hash by which the page's content security policy allows only this script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _json(data: Mapping[str, Any]) -> str:
    """JSON that ends no script element and opens no comment."""
    plain = text.visible(json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


class Moment(NamedTuple):
    """`words` are read; `command` opens the workbench there, typed in a terminal; `link` says the same to a program."""

    words: str
    command: str
    link: str


def moment(location: str, time_ns: int | None) -> Moment | None:
    """The moment `time_ns` of the session at `location`; None for none."""
    if time_ns is None:
        return None
    place = location if is_remote(location) else str(Path(location).absolute())
    seconds = f"{time_ns / 1e9:.3f}".rstrip("0").removesuffix(".") if time_ns % 10**9 else f"{time_ns // 10**9}.0"
    return Moment(
        text.clock(time_ns),
        f"python main.py open {shlex.quote(place)} --at {seconds}",
        f"brokerscope:{quote(place)}?at={seconds}",
    )
