"""The HTTP door: FastAPI on uvicorn, in a thread of its own, in front of a host."""
