"""The command line: one file per verb, and what they share: talking, failing, options."""
