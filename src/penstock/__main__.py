"""`python -m penstock`, and the file that is given to spark-submit."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # Started by its path, Python puts its folder first: our own folders would hide modules of the same names.
    if sys.path and Path(sys.path[0]).resolve() == Path(__file__).resolve().parent:
        del sys.path[0]
    from penstock.cli.main import main

    main()
