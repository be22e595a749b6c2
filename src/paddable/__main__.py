"""``python -m paddable``: the command line."""

import sys

from paddable.cli import main

sys.exit(main())
