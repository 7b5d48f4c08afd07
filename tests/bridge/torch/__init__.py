"""Stands in for PyTorch where a test needs no more of it than its version."""

__version__ = "2.11.0"
