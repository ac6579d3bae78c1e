"""The HTTP listener: FastAPI on uvicorn, in a thread of its own, in front of a host."""
