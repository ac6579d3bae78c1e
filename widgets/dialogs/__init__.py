"""Dialogs: each asks one thing, checks it while it is typed, and answers with a signal."""
