"""The experiments and the measurements."""
