"""What processes hold, for benchmarks that ask about memory."""

from pathlib import Path


def processes_under(root: int) -> dict[int, tuple[bool, int]]:
    """Of a process and all below it: whether it is Java, and its memory (its own pages, not those of files).

    Java starts commands by a copy of itself that shares its memory until it is that command: such a copy does not count.
    """
    parents, found = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            rest = (entry / "stat").read_text().rpartition(")")[2]
            _, resident, shared, *_ = map(int, (entry / "statm").read_text().split())
            program = (entry / "exe").readlink().name
        except (OSError, ValueError):
            continue
        parents[int(entry.name)] = int(rest.split()[1])
        found[int(entry.name)] = (program == "java", (resident - shared) * 4096)
    wanted = {root}
    while more := {process for process, parent in parents.items() if parent in wanted} - wanted:
        wanted |= more
    java = {process for process, (is_java, _) in found.items() if is_java}
    copies = {process for process in java if parents[process] in java}
    return {process: found[process] for process in wanted if process in found and process not in copies}
