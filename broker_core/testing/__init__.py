"""The test kit: a user's own programs and functions, tested against a broker that can be stopped and broken.

The public interface is `__all__`, which is what `__init__.pyi` imports. Each name is imported on first access, so that
pytest's plugin costs nothing.
"""

from __future__ import annotations

from broker_core import exports

__all__, __getattr__ = exports(__name__, __file__)
