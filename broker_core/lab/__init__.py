"""The lab: scenarios of producers, consumers and workers that run against a broker in session time."""
