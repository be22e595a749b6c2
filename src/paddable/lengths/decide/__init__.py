"""The decision procedure: statements about lengths are proved or refuted for every length, never sampled."""
