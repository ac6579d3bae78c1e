"""Schemas: a registry of JSON Schema and Avro, compatibility checks, and the validation of payloads."""
