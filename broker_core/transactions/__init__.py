"""Transactions of producers, as in Kafka (KIP-98)."""
