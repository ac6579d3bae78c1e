"""Partitions as append-only logs of Kafka record batches (format v2) in segment files."""
