"""What the content of an answer says, whatever its status: malformed, the wrong page, a sign-in page.

Source of the rules: "What a causal exchange says" in docs/explanation/verdicts.md.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from bughunt.verdict.blame import PRODUCT, Says
from bughunt.verdict.causality import Causality, ResourceKey, resource_key
from bughunt.verdict.judgement import CauseKind
from bughunt.verdict.probing import Probes
from bughunt.verdict.record import PAGE_LOADING, SAFE_METHODS, Content, Exchange, LoadRecord

__all__ = ["ContentRules", "is_sign_in_url"]

#: Parts of a path by which sign-in pages are known.
_SIGN_IN = re.compile(
    r"(?:^|/)(?:log-?_?in|log-?_?out|sign-?_?in|sign-?_?out|logon|signon|sso|auth|authorize|authenticate"
    r"|oauth2?|saml2?|openid[\w-]*|sessions?/new|users/sign_in)(?:/|\.\w+$|$)",
    re.IGNORECASE,
)


def is_sign_in_url(url: str) -> bool:
    """Whether a URL is about signing in or out, by its path."""
    return bool(_SIGN_IN.search(urlsplit(url).path))


class ContentRules:
    """Answers, for one load, what the content of its exchanges says."""

    def __init__(self, load: LoadRecord, causality: Causality, probes: Probes) -> None:
        self._load = load
        self._causality = causality
        self._probes = probes
        self._read_as_json: set[ResourceKey] = {
            resource_key(x) for x in load.exchanges if x.content is Content.JSON
        }
        self._own_pages = {x.html_mark for x in load.exchanges if x.main_document and x.html_mark}

    def says(self, x: Exchange) -> Says:
        """What the content of a whole answer below 400 says: the environment, the product, or nothing."""
        if self.led_to_sign_in(x):
            return CauseKind.ACCESS
        if x.healthy is False and (self._causality.declared(x) or self._causality.acknowledged(x)):
            return CauseKind.UNHEALTHY
        probe = self._probes.of(x)
        if probe is not None and probe.damaged:
            return CauseKind.NETWORK
        if x.content is Content.HTML and self._json_is_due(x):
            return self._by_page(x)
        return self._by_json(x) if self._is_no_json(x) else None

    def led_to_sign_in(self, x: Exchange) -> bool:
        """A redirect led from what was asked for to a page to sign in, and nobody signed in there."""
        if not x.hops or self._asked_to_sign_in(x):
            return False
        at_sign_in = is_sign_in_url(x.final_url or "") or x.sign_in
        return at_sign_in and not (self._causality.document(x) and self._charter_went_on(x))

    def _asked_to_sign_in(self, x: Exchange) -> bool:
        """It was about signing in from the start: such a page, a form that was sent, the same path again."""
        path = urlsplit(x.hops[0].url).path
        same_path = path == urlsplit(x.final_url or "").path
        sent = self._causality.document(x) or x.method not in SAFE_METHODS
        # `/api/auth/me` is data all the same, `/logout` is not.
        by_name = is_sign_in_url(path.rstrip("/").rpartition("/")[2])
        return is_sign_in_url(path) and (sent or same_path or by_name)

    def _charter_went_on(self, document: Exchange) -> bool:
        """The charter did something on that page, signed in perhaps."""
        failed = self._load.failure.step if self._load.failure else None
        came = document.responded or document.started
        return any(
            step.acts and step.name not in PAGE_LOADING and step.began >= came and step.index != failed
            for step in self._load.steps
        )

    def _json_is_due(self, x: Exchange) -> bool:
        if x.resource_type not in {"fetch", "xhr", "other"}:
            return False
        wanted = x.request_headers.get("accept", "").lower().startswith("application/json")
        return wanted or self._causality.read_as_json(x) or resource_key(x) in self._read_as_json

    def _by_page(self, x: Exchange) -> Says:
        if x.sign_in:
            return CauseKind.ACCESS
        own = x.html_mark in self._own_pages and x.html_mark is not None
        return PRODUCT if own else CauseKind.WRONG_CONTENT

    def _is_no_json(self, x: Exchange) -> bool:
        """It says that it is JSON, or the charter reads it as such, and it is not."""
        if x.content is Content.MALFORMED:
            return True
        return x.content in {Content.EMPTY, Content.OTHER} and self._causality.read_as_json(x)

    def _by_json(self, x: Exchange) -> Says:
        """Broken on the way only if it is whole from outside; where nobody could look, that is possible."""
        probe = self._probes.of(x)
        unknown = probe is None or probe.status is None or probe.status >= 400
        if unknown and x.content is not Content.MALFORMED:
            return PRODUCT  # an answer without content cannot have been cut
        return CauseKind.MALFORMED if unknown or (probe and probe.content is Content.JSON) else PRODUCT
