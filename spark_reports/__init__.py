"""Session folder in, report out: Spark tables as pure functions, and a thin job around them."""
