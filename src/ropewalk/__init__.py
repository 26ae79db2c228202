"""Ropewalk: interest-aware peer-to-peer publish/subscribe."""

__version__ = "0.1.0"
