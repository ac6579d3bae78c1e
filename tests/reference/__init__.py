"""Apache Kafka itself beside this broker: the same programs on both, and what differs. `make reference` runs it."""
