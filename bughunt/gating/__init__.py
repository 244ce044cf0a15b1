"""The gate: which faults are planned from a healthy run, and what a right answer to each of them is. Pure."""
