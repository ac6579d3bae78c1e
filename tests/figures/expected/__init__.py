"""What each place of the window should show, in its words, from a recount: {(place, object, figure): value}."""
