"""Factor analysis."""

from gramfold.methods.factor_analysis.factor_analysis import FactorAnalysis

__all__ = ["FactorAnalysis"]
