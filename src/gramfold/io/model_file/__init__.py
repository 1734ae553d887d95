"""Model files: a fitted model, or a pipeline that ends in one, as arrays and one text. Nothing in them is code.

A file is a container of arrays in the layout of safetensors (`container`), whose text is a tree in JSON (`encoding`,
`decoding`). It names the classes of a model, which are looked up in a fixed list (`parts`), never imported by name.
The whole format is described in docs/models.md.
"""

from gramfold.io.model_file.files import load, save
from gramfold.io.model_file.info import ModelInfo, model_info

__all__ = ["ModelInfo", "load", "model_info", "save"]
