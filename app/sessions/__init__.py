"""Sessions over time: playback, branching, opening recordings, exporting what the user did."""
