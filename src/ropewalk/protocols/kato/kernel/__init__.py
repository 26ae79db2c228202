"""The overlay by interests on flat arrays: ids, links when everybody is known, and where events get.

Paper: Kato et al., sections III-A, III-B and IV-A. Readings and departures stand in docs/papers/kato.md.
"""
