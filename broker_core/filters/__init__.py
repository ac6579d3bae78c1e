"""The filter language of tables, canvas, run-until and reports: `lag > 100 and group = "billing"`, `~dlq`, words."""

from broker_core.filters.error import FilterError
from broker_core.filters.field import Field, Fields
from broker_core.filters.filter import Filter, parse
from broker_core.filters.parser import quoted
from broker_core.filters.value import AtLeast

__all__ = ["AtLeast", "Field", "Fields", "Filter", "FilterError", "parse", "quoted"]
