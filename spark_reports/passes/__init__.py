"""Everything that grows with the number of events: a few wide passes over them, DataFrame -> DataFrame, on executors.

`messages` and `control` are rows of `session.EVENTS_SCHEMA`. What a pass brings home is bounded, as its docstring says,
and made into the tables of the report by `spark_reports.tables`. Times are nanoseconds of session time; `start_ns` is
the beginning of a time bucket.
"""
