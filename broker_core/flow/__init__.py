"""Flow control: rates, depth limits, and what happens at the limit."""
