"""`python -m target_apps.todo [--port N] [--bug NAME]`: try the todo by hand."""

import sys

from target_apps.command import main
from target_apps.todo import TodoServer

if __name__ == "__main__":
    sys.exit(main(TodoServer, "target_apps.todo"))
