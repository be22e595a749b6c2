"""CT-Transformer: which punctuation mark follows each word.

An embedding, a SAN-M encoder and one linear layer. Chen et al., "Controllable time-delay transformer for real-time
punctuation prediction and disfluency detection" (2020), in the form of FunASR's ``CTTransformer``, whose parameter
names these are.

Legend: B batch, N words, C channels, P punctuation marks.
"""

from __future__ import annotations

from torch import Tensor, nn

from paddable.families.ct_punc.config import CtPuncConfig
from paddable.families.layers.sanm import SanmEncoder

__all__ = ["CtPunc"]

_NORM_EPSILON = 1e-12


class CtPunc(nn.Module):
    """Scores of marks from numbers of words."""

    def __init__(self, config: CtPuncConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocabulary, config.input_size)
        self.encoder = SanmEncoder(config, norm_epsilon=_NORM_EPSILON)
        self.decoder = nn.Linear(config.size, len(config.marks))

    def forward(self, text_BN: Tensor) -> Tensor:
        """Scores of the marks behind each word.

        Args:
            text_BN: rows of the token table, int64 [B, N].

        Returns:
            float32 [B, N, P]; the largest of a row is the mark.
        """
        scores_BNP: Tensor = self.decoder(self.encoder(self.embed(text_BN)))
        return scores_BNP
