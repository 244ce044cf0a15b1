"""`python -m bughunt`."""

from bughunt.cli import main

main()
