"""The cases stand beside the tests that read them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
