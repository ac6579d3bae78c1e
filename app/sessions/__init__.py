"""Sessions over time: going back, branching, opening what was recorded, keeping what was done by hand."""
