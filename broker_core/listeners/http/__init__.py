"""The HTTP listener: FastAPI on uvicorn, in a thread of its own."""
