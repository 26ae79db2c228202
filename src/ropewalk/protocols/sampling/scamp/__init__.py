"""SCAMP: views that size themselves to about (c + 1) ln n, with nobody knowing n."""
