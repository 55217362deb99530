"""Load curves: rates over time, from files and from formulas."""
