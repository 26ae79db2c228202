"""The simulator: every message, every timer, every failure, and one seed is one history."""
