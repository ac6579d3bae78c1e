"""Qt models over snapshots: what the widgets show. Nothing here draws, and nothing here asks the broker."""
