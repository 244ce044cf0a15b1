"""What the shop's page calls besides the shop: telemetry, a banner's script, an image."""

from __future__ import annotations

from http import HTTPStatus

from target_apps.messages import Request, Response
from target_apps.server import HOST, AppServer, Routes

__all__ = ["ThirdParties"]

BANNER = b'document.querySelector("[data-testid=banner]").textContent = "Free delivery this week";'
SEAL = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
    b'<circle cx="8" cy="8" r="7" fill="#0b5cad"/></svg>'
)


class ThirdParties(AppServer):
    """Three services of nobody's concern; the shop works without each of them."""

    @property
    def url(self) -> str:
        """By another name than the shop's, and so on another site."""
        return super().url.replace(HOST, "localhost")

    def routes(self) -> Routes:
        banner = Response(body=BANNER, content_type="text/javascript; charset=utf-8")
        seal = Response(body=SEAL, content_type="image/svg+xml")
        return {
            ("POST", "/telemetry"): _swallow,
            ("GET", "/banner.js"): lambda request: banner,
            ("GET", "/seal.svg"): lambda request: seal,
        }


def _swallow(request: Request) -> Response:
    return Response(status=HTTPStatus.NO_CONTENT, headers={"Access-Control-Allow-Origin": "*"})
