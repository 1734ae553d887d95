"""Data is inherited, behaviour is held: groups declare parameters and attributes, two classes stand above a method."""

from dataclasses import fields

import pytest

from gramfold.embedding import Embedding, Estimator
from tests.contract.discovery import by_name, exported, worked_example

ESTIMATORS = [*exported(), worked_example()]
OURS = ("gramfold", "gramfold_worked_example")


def ancestors(cls: type) -> list[type]:
    return [base for base in cls.__mro__ if base.__module__.startswith(OURS)]


def behaviour(cls: type) -> list[str]:
    """Functions and properties that a class defines itself; what a dataclass gets by being one does not count."""
    own = {name: value for name, value in vars(cls).items() if not name.startswith("__")}
    return [name for name, value in own.items() if callable(value) or isinstance(value, property | classmethod)]


GROUPS = {base for cls in ESTIMATORS for base in ancestors(cls) if not issubclass(base, Estimator)}


@pytest.mark.parametrize("cls", ESTIMATORS, ids=by_name)
def test_at_most_two_classes_with_behaviour_stand_above_a_method(cls):
    above = [base for base in ancestors(cls)[1:] if behaviour(base) and base.__name__ != "Isomap"]
    assert set(above) <= {Estimator, Embedding}
    # LandmarkIsomap is Isomap with one other default
    assert not [base for base in ancestors(cls)[1:] if base.__name__ == "Isomap" and behaviour(cls)]


def test_there_are_groups():
    assert {"Neighborhood", "Geodesics", "EdgeWeights", "KernelFunctions"} <= {group.__name__ for group in GROUPS}


@pytest.mark.parametrize("group", sorted(GROUPS, key=by_name), ids=by_name)
def test_a_group_declares_and_does_nothing(group):
    assert not behaviour(group)
    assert fields(group) or [name for name in vars(group) if name.endswith("_") and not name.startswith("_")]


@pytest.mark.parametrize("cls", ESTIMATORS, ids=by_name)
def test_no_name_stands_in_two_groups_of_a_method(cls):
    declared = [name for base in ancestors(cls) if base in GROUPS for name in vars(base).get("__annotations__", {})]
    assert len(set(declared)) == len(declared)
    assert "random_state" not in declared, "which every estimator has"
