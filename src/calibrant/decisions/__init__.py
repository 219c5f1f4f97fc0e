"""Decisions based on class probabilities: which are cheapest, and what they are worth."""

from calibrant.decisions.cheapest import Decisions, decide
from calibrant.decisions.cost_table import CostTable
from calibrant.decisions.costs import CostComparison, CostCurve, compare_costs, cost_curve
from calibrant.decisions.curves import DecisionCurve, decision_curve, net_benefit
from calibrant.decisions.thresholds import PairThresholds, implied_thresholds

__all__ = [
    "CostComparison",
    "CostCurve",
    "CostTable",
    "DecisionCurve",
    "Decisions",
    "PairThresholds",
    "compare_costs",
    "cost_curve",
    "decide",
    "decision_curve",
    "implied_thresholds",
    "net_benefit",
]
