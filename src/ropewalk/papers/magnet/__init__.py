"""The claims of Magnet."""
