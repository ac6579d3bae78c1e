"""The filter language of tables, canvas and run-until: `lag > 100 and group = "billing"`, `~dlq`, bare words."""

from app.filters.error import FilterError
from app.filters.field import Field, Fields
from app.filters.filter import Filter, judged, parse

__all__ = ["Field", "Fields", "Filter", "FilterError", "judged", "parse"]
