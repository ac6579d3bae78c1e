"""The filter language of tables, canvas, run-until and reports: `lag > 100 and group = "billing"`, `~dlq`, words."""

from filter_language.error import FilterError
from filter_language.field import Field, Fields
from filter_language.filter import Filter, parse

__all__ = ["Field", "Fields", "Filter", "FilterError", "parse"]
