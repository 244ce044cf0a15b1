"""Run by .venv-apps: a file of three recorded HTTP flows. The argument is its path."""

import sys

from mitmproxy import io
from mitmproxy.test import tflow

FLOWS = (
    ("GET", "/ships", 200, b"Two ships are moored."),
    ("POST", "/ships", 201, b"Welcome."),
    ("GET", "/pier", 404, b"Where is the pier?"),
)

with open(sys.argv[1], "wb") as file:
    writer = io.FlowWriter(file)
    for method, path, status, said in FLOWS:
        flow = tflow.tflow(resp=True)
        flow.request.method, flow.request.path = method, path
        flow.request.host, flow.request.port = "harbour.example", 80
        flow.response.status_code, flow.response.content = status, said
        writer.add(flow)
