"""StaN (Matos et al.): nodes rank each other by a hash of the pair, alike in all topics, so overlays come to share links."""
