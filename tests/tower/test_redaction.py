"""Secrets are taken out before evidence is written, and nothing else is."""

from __future__ import annotations

import base64
import json
import time
import zipfile
from io import BytesIO
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bughunt.tower import EvidenceKind, NewEvidence, Redactor, Tower
from bughunt.tower.learnt import ORDINARY
from bughunt.verdict.record import Exchange, load_from_json, to_json
from tests.tower.making import ME, a_load, begun

STEADY = settings(max_examples=80)
SECRET = 'p"ss w/ö\\rd$1'
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def _json(value: object, redactor: Redactor | None = None) -> Any:  # Any: JSON
    data = json.dumps(value).encode()
    return json.loads((redactor or Redactor()).redact(data, "application/json"))


def _text(text: str, redactor: Redactor | None = None) -> str:
    return (redactor or Redactor()).redact(text.encode(), "text/plain").decode()


LOOKALIKES = (
    *("author", "tokens", "input_tokens", "sessions", "passing", "secretary", "pincode", "signal", "codec"),
    *("code", "side", "inside", "shipping", "tickets", "design", "authority", "spin"),
)


class TestJson:
    @pytest.mark.parametrize(
        "key",
        [
            *("password", "passwd", "pwd", "newPassword", "password_confirmation", "token", "accessToken"),
            *(
                "refresh_token",
                "id_token",
                "csrfToken",
                "secret",
                "client_secret",
                "api_key",
                "apiKey",
                "API-KEY",
            ),
            *("authorization", "Cookie", "set-cookie", "sessionId", "private_key", "jwt"),
            *("session", "sid", "ticket", "sig", "signature", "X-Amz-Signature", "auth", "otp", "PIN"),
        ],
    )
    @pytest.mark.parametrize("value", ["hunter2", 4711, ["a", {"b": "c"}]], ids=str)
    def test_values_under_telling_keys(self, key: str, value: object) -> None:
        clean = json.dumps(_json({"user": "ann", "deep": [{key: value}]}))
        assert "[redacted]" in clean
        for part in ("hunter2", "4711", '"a"', '"c"'):
            assert part not in clean
        assert '"ann"' in clean

    @pytest.mark.parametrize("value", [None, True, False, "", []], ids=str)
    def test_values_that_tell_nothing_stay(self, value: object) -> None:
        assert _json({"token": value}) == {"token": value}

    @pytest.mark.parametrize("key", LOOKALIKES)
    def test_keys_that_only_look_alike_stay(self, key: str) -> None:
        assert _json({key: "plain"}) == {key: "plain"}

    def test_headers_in_a_record(self) -> None:
        exchange = Exchange(
            id=0,
            method="GET",
            url="https://ann:pw1234@shop.test/api?access_token=abc123&page=2",
            resource_type="fetch",
            started=0.25,
            request_headers={"cookie": "sid=1", "x-session-id": "9", "accept": "*/*", "x-mine": "m"},
            response_headers={"set-cookie": "sid=1; Secure", "access-control-allow-credentials": "true"},
            body='{"access_token": "abc123", "items": [{"qty": 2}]}',
        )
        record = load_from_json(Redactor(["X-Mine"]).redact(to_json(a_load(1, exchange)), "application/json"))
        (clean,) = record.exchanges
        assert clean.request_headers == {
            "cookie": "[redacted]",
            "x-session-id": "[redacted]",
            "accept": "*/*",
            "x-mine": "[redacted]",
        }
        assert clean.response_headers["set-cookie"] == "[redacted]"
        assert clean.response_headers["access-control-allow-credentials"] == "true"
        assert clean.url == "https://redacted@shop.test/api?access_token=[redacted]&page=2"
        assert clean.body == '{"access_token": "[redacted]", "items": [{"qty": 2}]}'
        assert clean.started == 0.25

    def test_names_beside_their_values(self) -> None:
        har = {
            "headers": [{"name": "Authorization", "value": "Bearer abc"}, {"name": "Accept", "value": "*/*"}],
            "cookies": [{"name": "sid", "value": "abc", "path": "/"}],
            "queryString": [{"value": "abc", "name": "token"}],
            "fill": {"selector": "#password", "value": "abc"},
            "dom": ["INPUT", {"type": "password", "__playwright_value_": "abc"}],
        }
        clean = _json(har)
        assert "abc" not in json.dumps(clean)
        assert clean["headers"][1] == {"name": "Accept", "value": "*/*"}
        assert clean["cookies"] == [{"name": "sid", "value": "[redacted]", "path": "/"}]

    def test_names_behind_escapes(self) -> None:
        data = rb'{"pass\u0077ord": "hunter2", "url": "https:\/\/x.test\/?tok\u0065n=abc123"}'
        clean = Redactor().redact(data, "application/json")
        assert json.loads(clean) == {"password": "[redacted]", "url": "https://x.test/?token=[redacted]"}

    @pytest.mark.parametrize(
        "data",
        [
            b'{"items": [{"price": 1.10, "qty": 2}],  "a":1e5, "a":2}',
            b'{"digest": "' + b"ab" * 32 + b'", "at": 0.123, "id": 12345678901234567890}',
            to_json(a_load(3)),
            b"[]",
            b"",
            b"NaN",
            b"{broken",
            b'"\xff\xfe"',
        ],
        ids=range(8),
    )
    def test_ordinary_content_stays_to_the_byte(self, data: bytes) -> None:
        assert Redactor(values=["hunter22"]).redact(data, "application/json") == data

    def test_what_is_not_secret_beside_a_secret_stays_to_the_byte(self) -> None:
        data = b'{"price": 1.10,  "pwd" : "x", "big": 1e400, "caf\\u00e9": "\\u00e9"}'
        assert Redactor().redact(data, "application/json") == data.replace(b'"x"', b'"[redacted]"')

    def test_lines(self) -> None:
        lines = b'{"a": 1}\n{"token": "abc123"}\nnot json password=abc123\n'
        clean = Redactor().redact(lines, "application/x-ndjson")
        assert clean == b'{"a": 1}\n{"token": "[redacted]"}\nnot json password=[redacted]\n'


class TestText:
    @pytest.mark.parametrize(
        ("text", "clean"),
        [
            ("GET /x?token=abc123&q=1 HTTP/1.1", "GET /x?token=[redacted]&q=1 HTTP/1.1"),
            ("https://x.test/#id_token=abc&state=1", "https://x.test/#id_token=[redacted]&state=1"),
            ("user=ann&password=abc", "user=ann&password=[redacted]"),
            ("postgresql://ann:abc@db.test/x", "postgresql://redacted@db.test/x"),
            ("Authorization: Basic YWJj\nAccept: */*", "Authorization: [redacted]\nAccept: */*"),
            ("Set-Cookie: sid=1; Path=/\r\n", "Set-Cookie: [redacted]\r\n"),
            ("fetch(u, {token: 'abc'})", "fetch(u, {token: '[redacted]'})"),
            ('said {"password": "abc"}', 'said {"password": "[redacted]"}'),
            ('- textbox "Password": abc', '- textbox "Password": [redacted]'),
            ('- textbox "Name": ann', '- textbox "Name": ann'),
            ('<input type="password" value="abc">', '<input type="password" value="[redacted]">'),
            ('<meta name="csrf-token" content="abc">', '<meta name="csrf-token" content="[redacted]">'),
            ("sent Bearer abcdefghijklmnop123", "sent Bearer [redacted]"),
            ("eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "[redacted]"),
            ("Basic authentication internationalization", "Basic authentication internationalization"),
            ("Your cookie settings", "Your cookie settings"),
            ("/x?session=a1&page=2", "/x?session=[redacted]&page=2"),
            ("/x?ticket=a1#sig=b2", "/x?ticket=[redacted]#sig=[redacted]"),
            ("/back?code=a1&state=b", "/back?code=[redacted]&state=b"),
            ("exit code=3, sides=2&pincode=1", "exit code=3, sides=2&pincode=1"),
            ("X-Auth: a1\nX-Auth-Key: b2", "X-Auth: [redacted]\nX-Auth-Key: [redacted]"),
            ("Authority: shop.test", "Authority: shop.test"),
            ("X-Author: ann", "X-Author: ann"),
            ('<input name="otp" value="4711">', '<input name="otp" value="[redacted]">'),
            ('- textbox "PIN": 4711', '- textbox "PIN": [redacted]'),
            ("mail ann@shop.test", "mail ann@shop.test"),
        ],
    )
    def test_by_name_and_look(self, text: str, clean: str) -> None:
        assert _text(text) == clean
        assert _text(clean) == clean

    def test_names_that_were_added(self) -> None:
        redactor = Redactor(["X-Tenant", "iban"])
        assert _text("x-tenant: acme\nhost: y", redactor) == "x-tenant: [redacted]\nhost: y"
        assert _json({"IBAN": "DE02"}, redactor) == {"IBAN": "[redacted]"}


def _redactor(*values: str) -> Redactor:
    redactor = Redactor()
    for value in values:
        redactor.learn(value)
    return redactor


class TestLearnt:
    @pytest.mark.parametrize(
        "form",
        [
            SECRET,
            json.dumps(SECRET)[1:-1],
            json.dumps(SECRET, ensure_ascii=False)[1:-1],
            quote(SECRET, safe=""),
            quote_plus(SECRET),
            quote(SECRET, safe="").lower(),
        ],
    )
    @pytest.mark.parametrize("media_type", ["text/plain", "application/json"])
    def test_in_all_its_forms(self, form: str, media_type: str) -> None:
        for text in (f"before {form} after", form):
            data = text.encode() if media_type == "text/plain" else json.dumps({"said": text}).encode()
            clean = _redactor(SECRET).redact(data, media_type)
            assert b"[redacted]" in clean
            assert form.encode() not in clean
            assert json.dumps(form)[1:-1].encode() not in clean

    @pytest.mark.parametrize("user", ["", "a:", "an:", "ann:"])
    def test_in_base64_wherever_it_begins(self, user: str) -> None:
        encoded = base64.b64encode(f"{user}{SECRET}:x".encode()).decode()
        clean = _text(f"said {encoded} there", _redactor(SECRET))
        assert "[redacted]" in clean
        assert base64.b64encode(SECRET.encode()).decode()[:10] not in clean

    def test_the_longest_first(self) -> None:
        assert _text("hunter2hunter", _redactor("hunter2", "hunter2hunter")) == "[redacted]"

    def test_in_json_within_json_and_in_keys(self) -> None:
        inner = json.dumps({"x": SECRET, "sid-4711": 1})
        clean = _json({"body": inner, "sid-4711": 2}, _redactor(SECRET, "sid-4711"))
        assert json.loads(clean["body"]) == {"x": "[redacted]", "[redacted]": 1}
        assert clean["[redacted]"] == 2

    @pytest.mark.parametrize("value", ["abc", "", "true", "redacted", "acted]"])
    def test_what_is_everywhere_is_not_learnt(self, value: str) -> None:
        text = f"is {value} here, [redacted] too"
        assert _text(text, _redactor(value)) == text

    def test_a_password_that_is_a_word_of_ours_breaks_no_record(self) -> None:
        record = to_json(a_load())
        redactor = _redactor("exchanges", "number", "scope", "base_url")
        assert load_from_json(redactor.redact(record, "application/json")) == a_load()
        assert _json({"ending": "mismatch"}, _redactor("mismatch")) == {"ending": "mismatch"}
        assert _json({"said": "mismatch"}, _redactor("mismatch")) == {"said": "[redacted]"}

    def test_urls_stay_urls(self) -> None:
        clean = _text("https://secret-host.test/secret-host", _redactor("secret-host"))
        assert urlsplit(clean).path == "/[redacted]"
        assert "secret" not in clean

    def test_nothing_is_shown(self) -> None:
        assert "hunter2" not in repr(Redactor(values=["hunter2"]))


LONG = "a1B2c3D4e5F6g7"


class TestMet:
    """What is hidden by its name is known from then on."""

    @pytest.mark.parametrize(
        ("media_type", "telling"),
        [
            ("application/json", json.dumps({"access_token": LONG})),
            ("application/json", json.dumps({"list": {"token": [LONG]}})),
            ("application/json", json.dumps({"headers": {"X-Auth": LONG}})),
            ("application/json", json.dumps({"headers": {"authorization": f"Bearer {LONG}"}})),
            ("application/json", json.dumps([{"value": LONG, "name": "sid"}])),
            (
                "application/json",
                json.dumps({"queryString": [{"value": LONG, "name": "code"}], "url": "/?code=x"}),
            ),
            ("application/json", json.dumps({"body": json.dumps({"otp": LONG})})),
            ("text/plain", f"GET /x?session={LONG} HTTP/1.1"),
            ("text/plain", f"X-Auth: {LONG}"),
            ("text/plain", f"{{secret: '{LONG}'}}"),
            ("text/html", f'<input type="password" value="{LONG}">'),
            ("text/plain", f'- textbox "Password": {LONG}'),
        ],
        ids=range(12),
    )
    def test_it_is_hidden_elsewhere(self, media_type: str, telling: str) -> None:
        redactor = Redactor()
        clean = redactor.redact(telling.encode(), media_type)
        assert LONG.encode() not in clean
        assert redactor.redact_text(f"console: got {LONG}!") == "console: got [redacted]!"

    def test_and_earlier_in_the_same_document(self) -> None:
        assert _json({"said": f"got {LONG}", "token": LONG}) == {
            "said": "got [redacted]",
            "token": "[redacted]",
        }
        assert _text(f"got {LONG}\ntoken={LONG}") == "got [redacted]\ntoken=[redacted]"

    def test_with_escapes_undone(self) -> None:
        redactor = Redactor()
        redactor.redact_text("/x?token=a1%2Fb2%2Bc3%3Dd4e5f6")
        assert redactor.redact_text("a1/b2+c3=d4e5f6") == "[redacted]"

    @pytest.mark.parametrize("value", ["https://login.shop.test/oauth", "/api/session/new", "enabled"])
    def test_places_and_short_words_are_hidden_where_they_stand_only(self, value: str) -> None:
        assert _json({"said": value, "auth": value}) == {"said": value, "auth": "[redacted]"}

    def test_what_lies_deeper_under_a_name_is_not_a_secret_elsewhere(self) -> None:
        at = "2026-03-01T12:00:00Z"
        assert _json({"at": at, "session": {"expires": at}}) == {
            "at": at,
            "session": {"expires": "[redacted]"},
        }

    def test_the_signature_of_a_mismatch_is_ours(self) -> None:
        ended = {"load": 1, "ending": "mismatch", "rule": "r", "reason": "x", "signature": "L12 to_have_text"}
        assert _json({"endings": [ended]}) == {"endings": [ended]}
        assert _json({"ending": "sad", "signature": LONG}) == {"ending": "sad", "signature": "[redacted]"}

    def test_a_page_of_tokens_makes_nothing_slow(self) -> None:
        redactor = Redactor()
        page = json.dumps([{"token": f"{LONG}-{n:06}"} for n in range(5000)]).encode()
        began = time.process_time()
        assert LONG.encode() not in redactor.redact(page, "application/json")
        assert time.process_time() - began < 2
        assert len(redactor._learnt.forms) < 5000


def _zip(**entries: bytes) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return packed.getvalue()


def _entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


class TestTraces:
    def test_entries_are_rewritten(self) -> None:
        trace = _zip(
            trace_network=b'{"headers": [{"name": "cookie", "value": "sid=1"}]}\n{"a": 1}\n',
            trace_trace=b'{"method": "fill", "params": {"selector": "#pwd", "value": "hunter2"}}\n',
            resources__a_html=b"<p>hunter2</p>",
            resources__b_png=PNG,
            resources__c_dat=b"\x00\xffhunter2\x00",
        )
        clean = Redactor(values=["hunter2"]).redact(trace, "application/zip")
        entries = _entries(clean)
        assert (
            entries["trace.network"]
            == b'{"headers": [{"name": "cookie", "value": "[redacted]"}]}\n{"a": 1}\n'
        )
        assert b"hunter2" not in b"".join(entries.values())
        assert entries["resources/a.html"] == b"<p>[redacted]</p>"
        assert entries["resources/b.png"] == PNG
        assert entries["resources/c.dat"] == b"\x00\xff*******\x00"
        assert Redactor(values=["hunter2"]).redact(clean, "application/zip") == clean

    @pytest.mark.parametrize(
        ("kind", "method", "params", "clean"),
        [
            ("Page", "keyboardType", {"text": "hello"}, {"text": "[redacted]"}),
            ("Page", "keyboardInsertText", {"text": "hello"}, {"text": "[redacted]"}),
            ("Keyboard", "type", {"text": "hello"}, {"text": "[redacted]"}),
            ("Keyboard", "insertText", {"text": "hello"}, {"text": "[redacted]"}),
            ("Keyboard", "press", {"key": "x"}, {"key": "[redacted]"}),
            ("Page", "keyboardDown", {"key": "Shift+X"}, {"key": "[redacted]"}),
            ("Page", "keyboardDown", {"key": "KeyX"}, {"key": "[redacted]"}),
            ("Keyboard", "press", {"key": "Enter"}, {"key": "Enter"}),
            ("Page", "keyboardPress", {"key": "Shift+Tab"}, {"key": "Shift+Tab"}),
            ("Page", "keyboardPress", {"key": "Control+a"}, {"key": "Control+a"}),
            ("Frame", "fill", {"selector": "#newPassword", "value": "x9"}, {"value": "[redacted]"}),
            ("Frame", "fill", {"selector": 'internal:label="PIN"i', "value": "x9"}, {"value": "[redacted]"}),
            ("Frame", "type", {"selector": "input[name=otp]", "text": "x9"}, {"text": "[redacted]"}),
            ("Frame", "press", {"selector": "#pin", "key": "4"}, {"key": "[redacted]"}),
            ("Frame", "fill", {"selector": "#pincode", "value": "x9"}, {"value": "x9"}),
            ("Frame", "fill", {"selector": "#shipping", "value": "x9"}, {"value": "x9"}),
            ("Frame", "click", {"selector": "#password"}, {}),
        ],
        ids=str,
    )
    def test_what_was_typed(
        self, kind: str, method: str, params: dict[str, str], clean: dict[str, str]
    ) -> None:
        action = {
            "type": "before",
            "params": params | {"deep": {"text": "t"}},
            "class": kind,
            "method": method,
        }
        line = json.dumps(action).encode() + b"\n"
        packed = Redactor().redact(_zip(trace_trace=line), "application/zip")
        told = json.loads(_entries(packed)["trace.trace"])
        assert told == action | {"params": params | clean | {"deep": {"text": "t"}}}

    def test_the_log_tells_nothing_either(self) -> None:
        before = {"class": "Frame", "method": "fill", "params": {"selector": "#pwd-field", "value": "hun2"}}
        lines = [{"message": 'fill("hun2")'}, before, {"message": 'fill("hun2")'}, ["html", "said hun2"]]
        trace = _zip(trace_trace="\n".join(map(json.dumps, lines)).encode(), resources__a_txt=b"hun2")
        redactor = Redactor()
        entries = _entries(redactor.redact(trace, "application/zip"))
        assert b"hun2" not in b"".join(entries.values())
        assert b'fill(\\"[redacted]\\")' in entries["trace.trace"]
        assert redactor.redact_text("hun2") == "[redacted]"

    def test_lines_that_are_no_actions_stay(self) -> None:
        lines = b'{"params": 1, "method": "fill"}\n{"params" "method"\n["params", "method"]\n{"params": {}}'
        assert Redactor().redact(_zip(trace_trace=lines), "application/zip") == _zip(trace_trace=lines)

    def test_without_secrets_the_very_same(self) -> None:
        trace = _zip(trace_trace=b'{"a": 1}\n', resources__b_png=PNG)
        assert Redactor(values=["hunter2"]).redact(trace, "application/zip") == trace

    def test_what_is_no_zip_is_bytes(self) -> None:
        assert Redactor(values=["hunter2"]).redact(b"PK hunter2", "application/zip") == b"PK *******"


def test_pictures_stay() -> None:
    assert Redactor(values=["hunter2"]).redact(PNG, "image/png") == PNG


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
    | st.sampled_from(
        [
            *("token=a&b=c", "https://u:p@h/?pwd=1", "x: y", '{"secret": "a"}', "hunter2", "[redacted]"),
            *(LONG, f"said {LONG}", f"?sid={LONG}", f'{{"otp": "{LONG}"}}', f"Bearer {LONG}"),
        ]
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["a", "token", "headers", "cookies", "name", "value", "password", "hunter2", "x-auth", LONG]
            )
            | st.text(max_size=6),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
LEARNT = st.lists(
    st.text(min_size=4, max_size=8) | st.sampled_from(["hunter2", "oken", "[red", "d]x["]), max_size=3
)


class TestProperties:
    @STEADY
    @given(value=VALUES, learnt=LEARNT, escaped=st.booleans())
    def test_json_stays_json_of_the_same_shape_and_again_changes_nothing(
        self, value: object, learnt: list[str], escaped: bool
    ) -> None:
        data = json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
        redactor = Redactor(values=learnt)
        clean = redactor.redact(data, "application/json")
        _same_shape(value, json.loads(clean.decode("utf-8", "surrogatepass")))
        assert redactor.redact(clean, "application/json") == clean

    @STEADY
    @given(
        parts=st.lists(
            st.text(max_size=6)
            | st.sampled_from(
                [
                    "token=",
                    "pwd: ",
                    "Cookie: ",
                    "://u:p@",
                    "?",
                    "&",
                    "\n",
                    '"',
                    "{",
                    "}",
                    ":",
                    "[redacted]",
                    "a1b2",
                    "session=",
                    "X-Auth: ",
                    LONG,
                ]
            ),
            max_size=10,
        ),
        learnt=LEARNT,
    )
    def test_text_again_changes_nothing(self, parts: list[str], learnt: list[str]) -> None:
        redactor = Redactor(values=learnt)
        clean = redactor.redact_text("".join(parts))
        assert redactor.redact_text(clean) == clean

    @STEADY
    @example("000\r", False)
    @given(
        st.text(min_size=4, max_size=12).filter(
            lambda text: text.lower() not in ORDINARY and text not in "[redacted]"
        ),
        st.booleans(),
    )
    def test_no_learnt_value_survives_in_a_string(self, secret: str, escaped: bool) -> None:
        data = json.dumps([secret, f"a{secret}b"], ensure_ascii=escaped).encode("utf-8", "surrogatepass")
        clean = json.loads(
            Redactor(values=[secret]).redact(data, "application/json").decode("utf-8", "surrogatepass")
        )
        for text in clean:
            assert secret not in text.split("[redacted]")

    @STEADY
    @given(
        st.dictionaries(
            st.sampled_from(["id", "items", "total"]), st.integers() | st.text("abc ,.", max_size=9)
        )
    )
    def test_nothing_sensitive_nothing_changed(self, value: dict[str, object]) -> None:
        data = json.dumps(value).encode()
        assert Redactor().redact(data, "application/json") is data


def _same_shape(before: Any, after: Any) -> None:  # Any: JSON
    if isinstance(before, dict) and isinstance(after, dict):
        assert len(after) <= len(before)
        for key in before.keys() & after.keys():
            _same_shape(before[key], after[key])
    elif isinstance(before, list):
        assert len(before) == len(after)
    elif before is None or isinstance(before, bool):
        assert after is before
    else:
        assert after == before or isinstance(after, str)


def test_the_tower_redacts_before_it_hashes(tower: Tower) -> None:
    run = begun(tower)
    tower.redactor.learn("hunter2")
    note = NewEvidence(kind=EvidenceKind.ARIA, data=b"typed hunter2", media_type="text/plain")
    tower.add_evidence(run.id, ME, [note])
    (item,) = tower.view(run.id).evidence
    assert tower.evidence_bytes(item) == b"typed [redacted]"
    tower.cancel(run.id, ME, "said hunter2")
    assert tower.view(run.id).notes == ("said [redacted]",)


def test_ordinary_records_cost_next_to_nothing() -> None:
    exchanges = [
        Exchange(id=n, method="GET", url=f"https://shop.test/api/{n}", resource_type="fetch", started=0.1)
        for n in range(300)
    ]
    data = to_json(a_load(1, *exchanges))
    redactor = Redactor(values=[f"s3cret-{n}" for n in range(20)])
    began = time.process_time()
    for _ in range(20):
        redactor.redact(data, "application/json")
    assert (time.process_time() - began) / 20 < 0.02
