"""Filters as people write them: `stock == "ACME" and 10 <= price < 20 or stock in ("ABC", "XYZ")`.

Names of attributes, numbers, words in quotes; `==`, `<`, `<=`, `>`, `>=`, `in`; `and`, `or` and brackets. Nothing is ever
evaluated: the text is taken apart by Python's own parser, and what is not one of these is refused by name.
"""

import ast
import keyword
import math
import re

from ropewalk.errors import UsageError
from ropewalk.protocols.content.filters import (
    LIMIT,
    MOST_ATTRIBUTES,
    MOST_VALUE,
    Condition,
    Filter,
    Range,
    check_name,
    is_word,
    met,
    shortened,
)

MOST_CHARACTERS = 4096  # ours
MOST_CONDITIONS = 256  # ours: as many as there may be alternatives
MOST_FILTERS = 256  # ours: that one expression may come to

KNOWN = 'compare attributes with numbers and words, as in: stock == "ACME" and 10 <= price < 20'
IN_QUOTES = re.compile(r"'[^']*'|\"[^\"]*\"")
OF_FILTERS = ("and", "or", "in")
FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
}


def filters_of(where: str) -> tuple[Filter, ...]:
    """What is wanted: events that match one of these."""
    tree = _parsed(where)
    _refuse_too_many(tree, where)
    try:
        found = _alternatives(tree, where)
    except RecursionError as error:
        raise UsageError(f"filter {shortened(where)!r} is nested too deeply; use fewer brackets.") from error
    if not found:
        raise UsageError(f"filter {shortened(where)!r} can never hold; check its ranges.")
    return tuple(dict.fromkeys(found))


def _parsed(where: str) -> ast.expr:
    if len(where) > MOST_CHARACTERS:
        raise UsageError(f"a filter of {len(where)} characters is too long: at most {MOST_CHARACTERS} are allowed.")
    try:
        return ast.parse(where.strip(), mode="eval").body
    except UnicodeEncodeError as error:
        raise _unwritable(where) from error
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        names = re.findall(r"[^\W\d]\w*", IN_QUOTES.sub("", where))
        for name in names:
            if keyword.iskeyword(name) and name not in OF_FILTERS:
                raise UsageError(
                    f"filter {shortened(where)!r} has {name!r}, which is no attribute but a keyword of Python; {KNOWN}."
                ) from error
        raise UsageError(f"filter {shortened(where)!r} cannot be read; {KNOWN}.") from error


def _refuse_too_many(tree: ast.expr, where: str) -> None:
    """Everything below takes time with conditions times alternatives, each as long as it has attributes."""
    parts = list(ast.walk(tree))
    conditions = sum(len(part.ops) for part in parts if isinstance(part, ast.Compare))
    attributes = len({part.id for part in parts if isinstance(part, ast.Name)})
    for what, count, most in (
        ("conditions", conditions, MOST_CONDITIONS),
        ("attributes", attributes, MOST_ATTRIBUTES),
    ):
        if count > most:
            raise UsageError(f"filter {shortened(where)!r} has {count} {what}, more than {most}; say it with fewer.")


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
    found = [Filter()]
    for part in parts:
        both = (met(one, other) for one in found for other in part)
        found = [each for each in both if each is not None]
    return found


def _comparison(left: ast.expr, op: ast.cmpop, right: ast.expr, where: str) -> list[Filter]:
    if isinstance(left, ast.Name) and isinstance(right, ast.Name):
        raise UsageError(f"filter {shortened(where)!r} compares {left.id} with {right.id}: put words into quotes.")
    if isinstance(right, ast.Name) and type(op) in FLIPPED:
        left, op, right = right, FLIPPED[type(op)](), left
    if not isinstance(left, ast.Name) or not _is_as_written(left, where):
        raise _refused(left, where)
    check_name(left.id)
    if isinstance(op, ast.In) and isinstance(right, ast.Tuple | ast.List | ast.Set):
        return [_condition(left.id, ast.Eq(), each, where) for each in right.elts]
    return [_condition(left.id, op, right, where)]


def _is_as_written(name: ast.Name, where: str) -> bool:
    """Python's parser makes one letter of those that look alike; here a name is what events call it."""
    return where.isascii() or not name.id.isascii() or _source_of(name, where) == name.id


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
            raise UsageError(f"filter {shortened(where)!r} compares {name} in a way that is not known; {KNOWN}.")
    return Filter(((name, condition),))


def _value(operand: ast.expr, where: str) -> float | str:
    match operand:
        case ast.Constant(value=str(word)):
            if not is_word(word):
                raise _unwritable(where)
            return word
        case ast.UnaryOp(op=ast.USub(), operand=number):
            return -_number(number, where)
        case ast.UnaryOp(op=ast.UAdd(), operand=number):
            return _number(number, where)
        case _:
            return _number(operand, where)


def _number(operand: ast.expr, where: str) -> float:
    match operand:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool) and abs(number) < LIMIT:
            return float(number)
        case _:
            raise _refused(operand, where)


def _source_of(tree: ast.expr, where: str) -> str:
    return ast.get_source_segment(where.strip(), tree) or where


def _refused(tree: ast.expr, where: str) -> UsageError:
    part = shortened(_source_of(tree, where))
    return UsageError(f"filter {shortened(where)!r} has {part!r}, which is not known there; {KNOWN}.")


def _unwritable(where: str) -> UsageError:
    return UsageError(
        f"filter {shortened(where)!r} has a word of more than {MOST_VALUE} characters, or one that UTF-8 cannot write; use another."
    )


def _too_many(where: str) -> UsageError:
    return UsageError(f"filter {shortened(where)!r} has more than {MOST_FILTERS} alternatives; say it with fewer.")
