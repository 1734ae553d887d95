"""From a table to its map in one call: columns, scaling and method chosen or given, the map beside the index, drawn."""

from gramfold.onecall.mapping import embed

__all__ = ["embed"]
