"""What a window shows at a moment, read from its widgets: {(place, object, figure): value}."""
