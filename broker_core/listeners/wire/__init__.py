"""The wire door: the broker, spoken to in frames."""
