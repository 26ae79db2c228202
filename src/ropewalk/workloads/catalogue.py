"""Every workload model by name."""

from ropewalk.workloads.contract import Model
from ropewalk.workloads.grid import Grid

MODELS: dict[str, type[Model]] = {Grid.name: Grid}
