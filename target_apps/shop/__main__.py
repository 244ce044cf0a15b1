"""`python -m target_apps.shop [--port N] [--bug NAME]`: try the shop by hand."""

import sys

from target_apps.command import main
from target_apps.shop import ShopServer

if __name__ == "__main__":
    sys.exit(main(ShopServer, "target_apps.shop"))
