"""The gates: what a padded model has to pass before it is written (design, section 1).

L: every operator alone, junk in its own padding. C: the whole model against native. J: the whole model, junk in the
container. None replaces another: behind a tail fill J holds by construction, C sees one padding only, and L knows
nothing of how operators are put together.
"""

from paddable.gates.judge import judge
from paddable.gates.report import DomainCheck, GateReport, Row, SiteResult
from paddable.gates.whole import Candidate

__all__ = ["Candidate", "DomainCheck", "GateReport", "Row", "SiteResult", "judge"]
