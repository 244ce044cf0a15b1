"""Small apps under test with known, switchable bugs, served from this machine alone.

Each app is a sub-package with a server class (`target_apps.cart.CartServer`) and can be
tried by hand: `python -m target_apps.cart`.
"""
