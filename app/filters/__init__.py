"""Filters in the window: parsed with errors in the user's language, saved, and applied to rows."""
