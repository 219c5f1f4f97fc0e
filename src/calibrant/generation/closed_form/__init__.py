"""Held-out scores without refits, where algebra allows: the same scores, much sooner."""

from calibrant.generation.closed_form.registry import closed_form_scores

__all__ = ["closed_form_scores"]
