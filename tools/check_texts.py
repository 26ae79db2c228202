"""House rules that no linter knows: where the texts and the tree must agree. Prints every breach; exit code 1 if any."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LONGEST_MODULE = 500
DRAWERS = {"util", "utils", "helper", "helpers", "common", "misc", "base", "manager"}
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def tracked(pattern: str) -> list[Path]:
    """Files of the project, the uncommitted ones included."""
    command = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", pattern]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def modules() -> list[str]:
    """A module is one idea with a sentence at its head, no longer than a reader can hold, in a room and not a drawer."""
    found = []
    for path in tracked("src/*.py"):
        name, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
        lines = text.count("\n")
        if lines > LONGEST_MODULE:
            found.append(f"{name}: {lines} lines, at most {LONGEST_MODULE}")
        if ast.get_docstring(ast.parse(text)) is None:
            found.append(f"{name}: no docstring that says what it is for")
        if path.stem in DRAWERS:
            found.append(f"{name}: a drawer; name it after what is in it")
    return found


def links() -> list[str]:
    """Every relative link in a text leads to a file."""
    return [
        f"{path.relative_to(ROOT)}: link to {target}, which is not there"
        for path in tracked("*.md")
        for target in LINK.findall(path.read_text(encoding="utf-8"))
        if "://" not in target and not (path.parent / target).exists()
    ]


def folders() -> list[str]:
    """ARCHITECTURE.md knows every folder of the package."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    package = ROOT / "src" / "ropewalk"
    rooms = sorted({path.relative_to(package).parts[0] for path in tracked("src/ropewalk/*/*.py")})
    return [f"ARCHITECTURE.md: no word of {room}/" for room in rooms if f"{room}/" not in text]


def tables() -> list[str]:
    """ARCHITECTURE.md lists every declared table."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    schema = (ROOT / "src/ropewalk/tables/schema.py").read_text(encoding="utf-8")
    names = re.findall(r'^    name="(\w+)"', schema, flags=re.MULTILINE)
    return [f"ARCHITECTURE.md: no word of the table {name}" for name in names if f"`{name}`" not in text]


def main() -> int:
    """Run every rule."""
    breaches = [*modules(), *links(), *folders(), *tables()]
    for breach in breaches:
        print(breach)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
