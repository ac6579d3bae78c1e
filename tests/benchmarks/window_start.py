"""One start of the window as main.py does it, until its first picture; prints CPU and wall seconds as JSON.

`BEGUN_S` in the environment is the time at which the process was started.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time


def painted() -> None:
    """In place of `gc.enable`, which is what the window does once it is painted."""
    wall_s = time.time() - float(os.environ["BEGUN_S"])
    print(json.dumps({"cpu_s": time.process_time(), "wall_s": wall_s, "modules": len(sys.modules)}), flush=True)
    os._exit(0)


gc.enable = painted
sys.argv[1:] = []

if __name__ == "__main__":
    from app.cli.main import main

    main()
