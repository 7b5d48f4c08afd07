"""Codecs of weights (docs/wire-formats-weights.md)."""
