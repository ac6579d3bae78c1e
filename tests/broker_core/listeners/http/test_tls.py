"""The HTTP listener speaks TLS where it is given a certificate."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from broker_core import Access, BrokerHost
from broker_core.listeners.http.listener import HttpListener
from tests.broker_core.listeners import certificates

TOKEN = "a token that is long enough"


def test_a_client_speaks_https_and_no_other(tmp_path: Path):
    tls = certificates.make(tmp_path)
    with BrokerHost() as host, HttpListener(host, tls=tls, access=Access.of_token(TOKEN)) as listener:
        assert listener.url.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=str(tls.certificate))
        headers = {"Authorization": f"Bearer {TOKEN}", "Origin": listener.url}
        request = urllib.request.Request(f"{listener.url}/v1/topics", headers=headers)
        with urllib.request.urlopen(request, context=trusted, timeout=30) as answer:
            assert json.load(answer) == []
        foreign = urllib.request.Request(request.full_url, headers={**headers, "Origin": listener.url[:4] + "://x"})
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(foreign, context=trusted, timeout=30)
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            urllib.request.urlopen(request.full_url, timeout=30)  # the certificate signs itself: not trusted
        with pytest.raises((urllib.error.URLError, ConnectionError, OSError)):
            urllib.request.urlopen(request.full_url.replace("https", "http"), timeout=30)
