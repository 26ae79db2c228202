"""What StaN asks of its weight function (section 2.3): uniform, deterministic, asymmetric, another order at each node."""

import numpy as np
import pytest

from ropewalk.arrays.hashing import weights
from ropewalk.ids import identify

NODES = np.array([identify(f"node-{number}") for number in range(1000)])


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    """weight(p, q) for a thousand nodes."""
    p, q = np.meshgrid(NODES, NODES, indexing="ij")
    return weights(p.ravel(), q.ravel()).reshape(p.shape)


def test_weights_are_uniform(matrix: np.ndarray) -> None:
    counts = np.bincount((matrix.ravel() >> 53).astype(np.int64), minlength=1024)
    expected = matrix.size / 1024
    chi_square = np.sum((counts - expected) ** 2 / expected)
    assert chi_square < 1168  # 1023 degrees of freedom, one in a thousand
    assert abs(matrix.mean() / 2**62 - 1) < 0.003


def test_every_node_is_ranked_evenly(matrix: np.ndarray) -> None:
    ranks = matrix.argsort(axis=1).argsort(axis=1)
    deviation = 1000 / np.sqrt(12 * 1000)  # of the mean of 1000 uniform ranks
    assert np.abs(ranks.mean(axis=0) - 499.5).max() < 4.5 * deviation


def test_what_p_thinks_of_q_says_nothing_of_what_q_thinks_of_p(matrix: np.ndarray) -> None:
    upper = np.triu_indices(1000, k=1)
    there, back = matrix[upper].astype(float), matrix.T[upper].astype(float)
    assert abs(np.corrcoef(there, back)[0, 1]) < 4.5 / np.sqrt(there.size)
    assert not np.any(there == back)


def test_two_nodes_order_the_others_independently(matrix: np.ndarray) -> None:
    ranks = matrix.argsort(axis=1).argsort(axis=1)
    correlation = np.asarray(np.corrcoef(ranks)) - np.eye(1000)
    assert np.abs(correlation).max() < 6 / np.sqrt(1000)
    assert abs(correlation.mean()) < 0.001


def test_a_node_has_no_two_equals(matrix: np.ndarray) -> None:
    assert all(np.unique(row).size == row.size for row in matrix)
