"""What must hold in every history, whatever goes wrong: one invariant per file."""
