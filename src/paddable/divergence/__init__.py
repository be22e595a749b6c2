"""The probe: where two runs of a model part, why, and what to do about it.

Two graphs are put in plain form and their nodes paired (`matching`); both run piece by piece (`pieces`), and each pair
of values is compared on the part that is valid (`regions`, `measure`). A walk back from the outputs that differ ends at
the first nodes whose inputs agree and whose result does not (`fork`); what differs between those says why (`causes`).
"""

from paddable.divergence.find import TOLERANCE, find
from paddable.divergence.known import Known
from paddable.divergence.result import ForkRecord, Layer, ProbeReport
from paddable.divergence.side import Side

__all__ = ["TOLERANCE", "ForkRecord", "Known", "Layer", "ProbeReport", "Side", "find"]
