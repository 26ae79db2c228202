"""An overlay by interests: ids are Bloom filters of what nodes want, and links follow which of them cover which (Kato et al.)."""
