"""The same weight and chance as `ids` and `seeds`, on arrays, compiled; and kernels over graphs held as flat arrays."""
