"""What this process may use of the machine: cores and memory, a container's limits included. Standard library only."""

import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")  # holds nothing of the below where no limit is set, or on another system


def cores() -> int:
    """The cores this process may keep busy."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, period = _cpu_quota()
    return max(1, min(allowed, quota // period)) if quota > 0 else allowed


def memory_bytes() -> int:
    """The memory this process may use."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = (_read("memory.max"), _read("memory/memory.limit_in_bytes"))  # cgroup 2 and 1
    return min([total, *(int(limit) for limit in limits if limit.isdigit())])


def on_memory(folder: Path) -> bool:
    """Whether what is written to `folder` takes memory instead of disk (a tmpfs), as far as the system tells."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return False
    resolved = folder.resolve()
    holding = [(len(point), kind) for _, point, kind, *_ in mounts if resolved.is_relative_to(point)]
    return bool(holding) and max(holding)[1] == "tmpfs"


def _cpu_quota() -> tuple[int, int]:
    """Microseconds of processor time in each period of so many; 0 for no limit."""
    found = _read("cpu.max").split() or [_read("cpu/cpu.cfs_quota_us"), _read("cpu/cpu.cfs_period_us")]
    quota, period = (int(word) if word.isdigit() else 0 for word in found)
    return (quota, period) if period else (0, 1)


def _read(name: str) -> str:
    try:
        return (CGROUP / name).read_text(encoding="ascii").strip()
    except OSError:
        return ""
