"""Magnet (Girdzijauskas et al.): nodes with similar interests sit close together on a ring, and trees follow it."""
