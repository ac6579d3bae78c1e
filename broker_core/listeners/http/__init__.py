"""The HTTP listener: Starlette on uvicorn, in a thread of its own."""
