"""The events of the session: the last ones in memory, the others in the recording."""
