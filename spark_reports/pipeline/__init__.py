"""The way from the events of a session to the tables of its report."""
