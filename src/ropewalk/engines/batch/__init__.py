"""Rounds without a clock: Spark lays topics out, kernels align them, and what nodes hold is counted by buckets of nodes."""
