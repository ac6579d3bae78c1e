"""Everything that grows with the number of events: wide passes in Spark, each with its bound, and what Polars folds in
order or looks up. Times are nanoseconds of session time; `start_ns` is the beginning of a time bucket.
"""
