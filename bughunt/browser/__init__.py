"""Playwright: starting a browser, recording what it does, and one load of a charter in it."""
