"""A Kafka cluster, observed through read-only requests."""
