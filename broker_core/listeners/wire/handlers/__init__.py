"""What each request does, a file a family."""
