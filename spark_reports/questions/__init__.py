"""One file per question: pure functions from DataFrame to DataFrame, each with the schema of its answer.

`events` are the rows of `session.EVENTS_SCHEMA`. Most questions read `rollup`, which is the one pass over all
messages. Times are nanoseconds of session time; `start_ns` is the beginning of a time bucket.
"""
