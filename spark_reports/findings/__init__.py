"""Findings about a session, computed from its tables: what happened, why (as far as the tables show), and what to
do."""
