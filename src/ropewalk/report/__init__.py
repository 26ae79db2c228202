"""Figures and tables of a run as one HTML file that opens anywhere: no script, nothing to fetch."""
