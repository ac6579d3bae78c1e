"""A small HTTP client for the tests: one connection, JSON in and out."""

import http.client
import json


class Answer:
    """Status, headers and body of one answer."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        """The body, read as JSON."""
        return json.loads(self.body)


class Client:
    """Talks to a listener at `port`."""

    def __init__(self, port, *, token=None, timeout_s=20, headers=None):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    def __call__(self, method, path, body=None, headers=None):
        """One request; `body` is any JSON value, or bytes as they are."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        self._connection.request(method, path, data, {**self._headers, **(headers or {})})
        answer = self._connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())

    def get(self, path, **named):
        """GET."""
        return self("GET", path, **named)

    def post(self, path, body=None, **named):
        """POST."""
        return self("POST", path, body, **named)

    def done(self, method, path, body=None):
        """The answer's JSON (None for no body), of a request that must succeed."""
        answer = self(method, path, body)
        assert answer.status < 300, (method, path, answer.status, answer.body)
        return answer.json if answer.body else None

    def close(self):
        """Hang up."""
        self._connection.close()
