from __future__ import annotations

import argparse
from pathlib import Path

from broker_core.errors import BrokerError
from broker_core.files import checked_root


def folder(text: str) -> Path:
    """For argparse: a path that can be a folder's; '' is none."""
    try:
        return checked_root(text)
    except BrokerError as error:
        raise argparse.ArgumentTypeError(error.about) from error
