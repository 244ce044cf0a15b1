"""The commands of `bughunt`, by subject; `cli.py` puts them together."""
