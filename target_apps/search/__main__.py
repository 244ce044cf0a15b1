"""`python -m target_apps.search [--port N] [--bug NAME]`: try the search by hand."""

import sys

from target_apps.command import main
from target_apps.search import SearchServer

if __name__ == "__main__":
    sys.exit(main(SearchServer, "target_apps.search"))
