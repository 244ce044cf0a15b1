"""`python -m target_apps.cart [--port N] [--bug NAME]`: try the cart by hand."""

import sys

from target_apps.cart import CartServer
from target_apps.command import main

if __name__ == "__main__":
    sys.exit(main(CartServer, "target_apps.cart"))
