"""The request for a report: sessions, parts, assertions; on a command line and as a value."""
