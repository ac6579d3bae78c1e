"""Schemas: a registry of JSON Schema and Avro, what is compatible with what, and the validation of payloads."""
