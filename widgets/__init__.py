"""The widgets on the screen, one panel per file: they know view models and signals, never the broker."""
