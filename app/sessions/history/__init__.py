"""What has happened in the session: the last events in memory, the others in the recording."""
