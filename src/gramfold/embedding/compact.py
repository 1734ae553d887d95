"""A model without all that `transform` does not read, and how much of the training rows a model holds."""

from typing import Any

from gramfold.embedding.model import Fitted


def compacted(model: Fitted) -> Fitted:
    """The same model, in which `LeftOut` stands for all that `transform` (or `predict`) does not read."""
    return model.compacted()


def training_rows_in(model: Fitted) -> Any:
    """What of the training rows is in a model."""
    raise NotImplementedError
