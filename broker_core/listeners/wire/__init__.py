"""The wire listener: the broker, spoken to in frames."""
