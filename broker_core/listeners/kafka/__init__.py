"""Kafka's protocol: unmodified Kafka clients publish, read, join groups and administer."""

import sys


def _import_kio() -> None:
    """Without Hypothesis, which kio imports where it finds it: a fifth of the time that a first broker takes."""
    if "hypothesis" in sys.modules:
        return
    sys.modules["hypothesis"] = None  # type: ignore[assignment] # an import of it fails
    try:
        import kio.static.primitive  # noqa: F401
    finally:
        del sys.modules["hypothesis"]


_import_kio()
