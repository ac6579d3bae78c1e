"""What each operation of the catalogue calls, a family a file. No rules: those are the broker's."""
