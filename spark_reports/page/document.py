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

ALL_FORMATS = ("CSV", "Parquet")
_TEMPLATES = ("report.html.j2", "macros.html.j2")
_DRAWING = ("plots.js", "report.js", "drawing.js")


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


def compile_templates() -> None:
    """Compile what a page is made of, so that `document` finds it compiled."""
    for name in _TEMPLATES:
        _environment().get_template(name)


def document(data: Mapping[str, Any], **values: Any) -> str:
    """The page: its template with `values`, and a script that draws `data`."""
    folder = resources.path("report")

    def read(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    drawing = "".join(map(read, _DRAWING))
    scripts = [_script(read("echarts.min.js")), _script(f'"use strict";\n(() => {{\n{drawing}}})();\n')]
    return (
        _environment()
        .get_template(_TEMPLATES[0])
        .render(
            style=Markup(_hues() + read("report.css")),
            scripts=[Markup(script) for script in scripts],
            hashes=" ".join(_hash(script) for script in scripts),
            data=Markup(_json(data)),
            remedy_of=remedy_of,
            states=STATES,
            **values,
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
    place = str(Path(location).absolute())
    seconds = f"{time_ns / 1e9:.3f}".rstrip("0").removesuffix(".") if time_ns % 10**9 else f"{time_ns // 10**9}.0"
    return Moment(
        text.clock(time_ns),
        f"python main.py open {shlex.quote(place)} --at {seconds}",
        f"brokerscope:{quote(place)}?at={seconds}",
    )
