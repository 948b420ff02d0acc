"""What the steps of cascade.case need; see run_check.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cases" / "checks"))
from batches import batch_models  # noqa: E402, F401, which the case calls
