"""torch-directml 0.2.5 with torch 2.4.1, as it was measured; it has no successor."""

from pathlib import Path

from paddable.torch_backends.directml import dtypes, empty, indices, modes, promotion, recurrent, windows, writes
from paddable.torch_backends.faults import Backend

__all__ = ["TORCH_DIRECTML"]

TORCH_DIRECTML = Backend(
    name="torch-directml",
    device_type="privateuseone",
    faults=tuple(
        fault
        for family in (modes, dtypes, writes, recurrent, promotion, empty, indices, windows)
        for fault in family.FAULTS
    ),
    table=Path(__file__).with_name("torch_directml.json"),
)
