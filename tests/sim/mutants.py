"""One-line bugs, and how to put one in."""

import inspect
import textwrap
from dataclasses import dataclass
from types import FunctionType, ModuleType

import pytest

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.invariants.watch import all_invariants
from ropewalk.protocols.sampling.contract import ManagerName


@dataclass(frozen=True)
class Mutant:
    owner: type | ModuleType
    method: str
    line: str  # a piece of it, found once
    instead: str
    caught_by: str
    manager: ManagerName = "scamp"

    def __str__(self) -> str:
        return f"{self.method}: {self.line[:40]}"

    def put_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        original = getattr(self.owner, self.method)
        source = textwrap.dedent(inspect.getsource(original))
        assert source.count(self.line) == 1
        scope: dict[str, FunctionType] = {}
        exec(  # a one-line bug cannot be put in otherwise
            compile(source.replace(self.line, self.instead), "<mutant>", "exec"), original.__globals__, scope
        )
        monkeypatch.setattr(self.owner, self.method, scope[self.method])

    def catcher(self) -> Invariant:
        (found,) = [each for each in all_invariants() if each.name == self.caught_by]
        return found
