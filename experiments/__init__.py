"""The paper's experiment: its scenarios and its preprocessing."""
