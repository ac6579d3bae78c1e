"""Recorded sessions: found, judged before any event is read, and read."""
