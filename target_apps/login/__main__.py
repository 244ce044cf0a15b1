"""`python -m target_apps.login [--port N] [--bug NAME]`: try the login by hand."""

import sys

from target_apps.command import main
from target_apps.login import LoginServer

if __name__ == "__main__":
    sys.exit(main(LoginServer, "target_apps.login"))
