"""Kafka's protocol: unmodified Kafka clients publish, read, join groups and administer."""
