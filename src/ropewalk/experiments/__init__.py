"""Whole pieces of work: a workload made and stored, a protocol run, measured and stored. Verbs and papers ask for these."""
