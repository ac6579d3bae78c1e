"""What the window collects from the event stream of one session."""
