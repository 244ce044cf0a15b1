"""`python -m target_apps.cart [--port N]`: try the cart by hand."""

import sys

from target_apps.cart import CartServer
from target_apps.server import main

if __name__ == "__main__":
    sys.exit(main(lambda port: CartServer(port=port), "target_apps.cart"))
