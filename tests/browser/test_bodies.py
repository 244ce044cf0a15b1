"""What a body turned out to be."""

from __future__ import annotations

import pytest

from bughunt.browser.bodies import parsed_json, read_body
from bughunt.verdict.record import Content

JSON_TYPE, HTML_TYPE, TEXT = "application/json", "text/html; charset=utf-8", "text/plain"


@pytest.mark.parametrize(
    ("data", "content_type", "content"),
    [
        (b'{"a": 1}', JSON_TYPE, Content.JSON),
        (b'{"a": 1}', TEXT, Content.JSON),
        (b"\xef\xbb\xbf[1]", "application/problem+json", Content.JSON),
        (b")]}',\n[1]", JSON_TYPE, Content.JSON),
        (b"while(1);[1]", JSON_TYPE, Content.JSON),
        (b"true", JSON_TYPE, Content.JSON),
        (b'{"a": ', JSON_TYPE, Content.MALFORMED),
        (b"gone", "text/json", Content.MALFORMED),
        (b"\xff\xfe{", JSON_TYPE, Content.MALFORMED),
        (b'{"a": ', TEXT, Content.OTHER),
        (b"{{ template }}", HTML_TYPE, Content.OTHER),
        (b"hello", TEXT, Content.OTHER),
        (b"<div>part</div>", HTML_TYPE, Content.OTHER),
        (b"", JSON_TYPE, Content.EMPTY),
        (b" \r\n", TEXT, Content.EMPTY),
        (b"<!DOCTYPE html><p>", JSON_TYPE, Content.HTML),
        (b"<!-- made by us -->\n<html>", TEXT, Content.HTML),
        (b"<html><![foo[ not markup", HTML_TYPE, Content.HTML),
        (b"[" * 100_000, JSON_TYPE, Content.MALFORMED),
    ],
)
def test_it_is_known_by_itself_first_and_by_its_type_second(
    data: bytes, content_type: str, content: Content
) -> None:
    assert read_body(data, content_type).content is content


@pytest.mark.parametrize("data", [b")]}',\n[1]", b"\xef\xbb\xbf[1]", b"for(;;);[1]", b"[1]"])
def test_what_is_known_as_json_is_read_as_json(data: bytes) -> None:
    assert parsed_json(data) == [1]


def test_json_that_is_nested_too_deeply_is_no_json() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        parsed_json(b"[" * 100_000)


def page(title: str = "Shop", body: str = "", script: str = "/app.js") -> bytes:
    return f'<!doctype html><title>{title}</title><body>{body}<script src="{script}"></script>'.encode()


def mark(data: bytes) -> str | None:
    return read_body(data, HTML_TYPE).html_mark


def test_two_copies_of_a_page_have_one_mark_whatever_tokens_they_hold() -> None:
    assert mark(page(body="nonce 1")) == mark(page(body="nonce 2", script="/app.js?v=2"))


def test_pages_with_other_titles_or_scripts_have_others() -> None:
    assert len({mark(page()), mark(page("Error")), mark(page(script="/other.js"))}) == 3


def test_a_page_without_scripts_is_only_like_itself() -> None:
    bare = b"<!doctype html><title>Shop</title>"
    assert mark(bare) == mark(bare)
    assert mark(bare + b"<p>1") != mark(bare + b"<p>2")


@pytest.mark.parametrize(
    ("field", "asks"),
    [
        ('<input type="password">', True),
        ("<INPUT TYPE=Password>", True),
        ('<input type="text" name="password">', False),
        ("<p>type=password</p>", False),
    ],
)
def test_a_field_for_a_password_makes_a_sign_in_page(field: str, asks: bool) -> None:
    assert read_body(f"<!doctype html>{field}".encode(), HTML_TYPE).sign_in is asks
