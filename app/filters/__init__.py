"""Filters in the window: what is wrong with one in the user's language, and those that a person keeps."""
