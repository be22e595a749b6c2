"""Forms: the same sums in the operators that a provider runs fastest. A provider's record names those it wants."""
