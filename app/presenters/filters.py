from __future__ import annotations

from broker_core.filters import Field, Fields, Filter, FilterError, parse
from broker_core.filters.field import KIND_WORDS
from widgets.filter_field import FilterHelp
from widgets.formats import sentence
from widgets.i18n import tr

_EXAMPLES = {
    "text": "{name} contains word",
    "number": "{name} > 100",
    "duration": "{name} > 5 s",
    "size": "{name} >= 3 KiB",
    "time": "{name} > 00:31",
    "flag": "~{name}",
}


def help_rows(fields: Fields) -> tuple[FilterHelp, ...]:
    """One row a field: its name, what it is, and an example that can be clicked."""
    return tuple(_row(field) for field in fields)


def _row(field: Field) -> FilterHelp:
    name = f"~{field.name}" if field.kind == "flag" else field.name
    example = _EXAMPLES[field.kind].format(name=field.name)
    return FilterHelp(name, tr(field.about) or sentence(tr(KIND_WORDS[field.kind])), example)


def parsed(text: str, fields: Fields) -> tuple[Filter, str]:
    """The filter, and ""; if it cannot be read, the one that takes all, and the sentence that says why."""
    try:
        return parse(text, fields), ""
    except FilterError as error:
        return parse("", fields), f"{error.translated(tr)} {tr('Nothing is filtered.')}"
