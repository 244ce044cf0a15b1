"""`python -m target_apps.<name>`: try an app by hand."""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading

from target_apps.server import HOST, AppServer

__all__ = ["main"]


def main(app: type[AppServer], prog: str) -> int:
    """Serve an app until Ctrl-C; what is returned is the exit code."""
    asked = _parser(app, prog).parse_args()
    try:
        with app(port=asked.port, bug=asked.bug) as server, contextlib.suppress(KeyboardInterrupt):
            sys.stdout.write(f"{server.url}\n")
            sys.stdout.flush()
            threading.Event().wait()
    except (OSError, OverflowError) as error:
        sys.stderr.write(f"Cannot listen on {HOST}:{asked.port}: {error}. Choose another --port.\n")
        return 2
    return 0


def _parser(app: type[AppServer], prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description=f"Serve {prog} on {HOST} until Ctrl-C.",
        epilog="\n".join(["bugs:", *(f"  {name}: {wrong}" for name, wrong in app.BUGS.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=0, help="the port to listen on (default: any free one)")
    parser.add_argument("--bug", metavar="NAME", choices=app.BUGS, help="a bug to switch on (default: none)")
    return parser
