"""What an execution provider's error means, what usually causes it and what to do next."""

from paddable.bundle.provider_errors.explain import explain
from paddable.bundle.provider_errors.explanation import Explanation

__all__ = ["Explanation", "explain"]
