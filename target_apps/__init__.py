"""Small apps under test with known, switchable bugs, served from this machine alone.

Each app is a sub-package with a server class (`target_apps.cart.CartServer`) and can be
tried by hand: `python -m target_apps.cart`.
"""

from target_apps.cart import CartServer
from target_apps.dashboard import DashboardServer
from target_apps.login import LoginServer
from target_apps.search import SearchServer
from target_apps.server import AppServer
from target_apps.shop import ShopServer
from target_apps.todo import TodoServer

__all__ = ["APPS", "AppServer"]

APPS: dict[str, type[AppServer]] = {
    "cart": CartServer,
    "todo": TodoServer,
    "search": SearchServer,
    "login": LoginServer,
    "dashboard": DashboardServer,
    "shop": ShopServer,
}
"""The apps by the name of their package."""
