"""The claims of StAN (the workshop paper) and of StaN (the journal paper)."""
