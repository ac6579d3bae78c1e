"""What requests and answers look like: typed, checked when read, and the source of the OpenAPI file."""
