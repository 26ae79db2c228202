"""Closed populations: cut out of a workload, described, and packed for kernels."""
