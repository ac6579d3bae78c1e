"""One file per question: pure functions from what the passes brought home (`spark_reports.passes`) to the rows of a
table, each with the schema of its answer as DDL. Times are nanoseconds of session time; `start_ns` is the beginning
of a time bucket.
"""
