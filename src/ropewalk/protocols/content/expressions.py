"""Filters as people write them: `stock == "ACME" and 10 <= price < 20 or stock in ("ABC", "XYZ")`.

Names of attributes, numbers, words in quotes; `==`, `<`, `<=`, `>`, `>=`, `in`; `and`, `or` and brackets. Nothing is ever
evaluated: the text is taken apart by Python's own parser, and what is not one of these is refused by name.
"""

import ast
import math
from itertools import product

from ropewalk.errors import UsageError
from ropewalk.protocols.content.filters import MOST_VALUE, Condition, Filter, Range, check_name, met

MOST_CHARACTERS = 4096  # ours
MOST_FILTERS = 256  # ours: that one expression may come to

KNOWN = 'compare attributes with numbers and words, as in: stock == "ACME" and 10 <= price < 20'
FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
}


def filters_of(where: str) -> tuple[Filter, ...]:
    """What is wanted: events that match one of these."""
    if len(where) > MOST_CHARACTERS:
        raise UsageError(f"a filter of {len(where)} characters is too long: at most {MOST_CHARACTERS} are allowed.")
    try:
        tree = ast.parse(where.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise UsageError(f"filter {where!r} cannot be read; {KNOWN}.") from error
    try:
        found = _alternatives(tree.body, where)
    except RecursionError as error:
        raise UsageError(f"filter {where[:40]!r}... is nested too deeply; use fewer brackets.") from error
    if not found:
        raise UsageError(f"filter {where!r} can never hold; check its ranges.")
    return tuple(dict.fromkeys(found))


def _alternatives(tree: ast.expr, where: str) -> list[Filter]:
    match tree:
        case ast.BoolOp(op=ast.Or()):
            found = [each for part in tree.values for each in _alternatives(part, where)]
        case ast.BoolOp(op=ast.And()):
            found = _conjunction([_alternatives(part, where) for part in tree.values], where)
        case ast.Compare():
            pairs = zip((tree.left, *tree.comparators), tree.ops, tree.comparators, strict=False)
            found = _conjunction([_comparison(left, op, right, where) for left, op, right in pairs], where)
        case _:
            raise _refused(tree, where)
    if len(found) > MOST_FILTERS:
        raise _too_many(where)
    return found


def _conjunction(parts: list[list[Filter]], where: str) -> list[Filter]:
    if math.prod(map(len, parts)) > MOST_FILTERS:
        raise _too_many(where)
    found = []
    for chosen in product(*parts):
        both: Filter | None = Filter()
        for each in chosen:
            both = met(both, each) if both is not None else None
        found += [both] if both is not None else []
    return found


def _comparison(left: ast.expr, op: ast.cmpop, right: ast.expr, where: str) -> list[Filter]:
    if isinstance(right, ast.Name) and type(op) in FLIPPED:
        left, op, right = right, FLIPPED[type(op)](), left
    if not isinstance(left, ast.Name):
        raise _refused(left, where)
    check_name(left.id)
    if isinstance(op, ast.In) and isinstance(right, ast.Tuple | ast.List | ast.Set):
        return [_condition(left.id, ast.Eq(), each, where) for each in right.elts]
    return [_condition(left.id, op, right, where)]


def _condition(name: str, op: ast.cmpop, operand: ast.expr, where: str) -> Filter:
    value = _value(operand, where)
    condition: Condition
    match op, value:
        case ast.Eq(), str():
            condition = value
        case ast.Eq(), float():
            condition = Range(value, value)
        case ast.LtE(), float():
            condition = Range(high=value)
        case ast.GtE(), float():
            condition = Range(low=value)
        case ast.Lt(), float():
            condition = Range(high=math.nextafter(value, -math.inf))
        case ast.Gt(), float():
            condition = Range(low=math.nextafter(value, math.inf))
        case _:
            raise UsageError(f"filter {where!r} compares {name} in a way that is not known; {KNOWN}.")
    return Filter(((name, condition),))


def _value(operand: ast.expr, where: str) -> float | str:
    sign = 1.0
    if isinstance(operand, ast.UnaryOp) and isinstance(operand.op, ast.USub | ast.UAdd):
        sign = -1.0 if isinstance(operand.op, ast.USub) else 1.0
        operand = operand.operand
    match operand:
        case ast.Constant(value=str(word)) if sign == 1.0 and len(word) <= MOST_VALUE:
            return word
        case ast.Constant(value=bool()):
            raise _refused(operand, where)
        case ast.Constant(value=int() | float() as number) if abs(number) < 1e300:  # noqa: PLR2004
            return sign * float(number)
        case _:
            raise _refused(operand, where)


def _refused(tree: ast.expr, where: str) -> UsageError:
    part = ast.get_source_segment(where.strip(), tree) or where
    return UsageError(f"filter {where!r} has {part!r}, which is not known there; {KNOWN}.")


def _too_many(where: str) -> UsageError:
    return UsageError(f"filter {where[:40]!r}... has more than {MOST_FILTERS} alternatives; say it with fewer.")
