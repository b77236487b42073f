"""The entry point of ``python -m skyenv``; see :mod:`skyenv.cli`."""

import sys

from skyenv.cli import main

if __name__ == "__main__":
    sys.exit(main())
