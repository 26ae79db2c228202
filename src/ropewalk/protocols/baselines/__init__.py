"""Rivals: what StaN is compared with, as state machines in the same simulator."""
