"""What a report is asked for: sessions, parts, assertions; on a command line and as a value."""
