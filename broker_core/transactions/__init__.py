"""Transactions: who has one open, what belongs to it, and how it ends, as in Kafka (KIP-98)."""
