"""What matters in a session, computed from its tables: what happened, why as far as they show, and what to do."""
