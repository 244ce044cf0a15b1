"""`python -m target_apps.dashboard [--port N] [--bug NAME]`: try the dashboard by hand."""

import sys

from target_apps.command import main
from target_apps.dashboard import DashboardServer

if __name__ == "__main__":
    sys.exit(main(DashboardServer, "target_apps.dashboard"))
