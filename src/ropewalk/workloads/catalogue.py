"""Every workload model by name, each with its usual parameters."""

from ropewalk.workloads.contract import Model
from ropewalk.workloads.grid import SETS, Grid

MODELS: dict[str, Model] = {Grid.name: SETS["G"]}
