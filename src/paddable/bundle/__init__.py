"""What is written beside and inside a converted model. Needs neither onnx nor torch."""

from paddable.bundle.directory import demand_folder, new_directory, refuse_inside_a_bundle, refuse_what_is_there
from paddable.bundle.manifest import CHEAP, Bundle, Graph, read_bundle, read_metadata, write_bundle
from paddable.bundle.metadata import FORMAT, KEY, Batch, Metadata, Remedy, Symbol
from paddable.bundle.onnxfile import read_entries

__all__ = [
    "CHEAP",
    "FORMAT",
    "KEY",
    "Batch",
    "Bundle",
    "Graph",
    "Metadata",
    "Remedy",
    "Symbol",
    "demand_folder",
    "new_directory",
    "read_bundle",
    "read_entries",
    "read_metadata",
    "refuse_inside_a_bundle",
    "refuse_what_is_there",
    "write_bundle",
]
