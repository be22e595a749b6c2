"""Runs converted models: numpy and one flavour of onnxruntime, nothing else. An app ships this alone."""

from paddable.runtime.loading import load
from paddable.runtime.model import Model
from paddable.runtime.session.session import Session

__all__ = ["Model", "Session", "load"]
