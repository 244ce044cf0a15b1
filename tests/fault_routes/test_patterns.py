import pytest
from hypothesis import given
from hypothesis import strategies as st

from fault_routes.patterns import PatternError, matches, union

HOST = "http://shop.test"

MATCHING = [
    ("**/api/cart", f"{HOST}/api/cart"),
    ("**/api/cart", f"{HOST}/v2/api/cart"),
    ("**/api/*", f"{HOST}/api/cart"),
    ("**/api/**", f"{HOST}/api/cart/1/items"),
    ("**/api/**/items", f"{HOST}/api/items"),
    ("**/api/**/items", f"{HOST}/api/cart/1/items"),
    ("**/*.{png,jpg}", f"{HOST}/a/b.jpg"),
    ("**/{a,b}{c,d}", f"{HOST}/bc"),
    ("**/a,b", f"{HOST}/a,b"),
    ("**", HOST),
    ("*://shop.test/**", f"{HOST}/api"),
    ("http*://shop.test/x", "https://shop.test/x"),
    ("{http,https}://shop.test/x", "https://shop.test/x"),
    (r"**/a\*b", f"{HOST}/a*b"),
    (r"**/a\?b=1", f"{HOST}/a?b=1"),
    ("**/a[1].(b)+$^|", f"{HOST}/a[1].(b)+$^|"),
    ("**/x\\", f"{HOST}/x\\"),
    ("HTTP://Shop.Test/Path", f"{HOST}/Path"),
    ("http://shop.test", f"{HOST}/"),
    ("http://shop.test?x=1", f"{HOST}/?x=1"),
    ("http://shop.test:80/x", f"{HOST}/x"),
    ("https://shop.test:443/x", "https://shop.test/x"),
    ("data:text/*", "data:text/plain"),
    ("**/käse brot", f"{HOST}/k%C3%A4se%20brot"),
    ("**/käse", f"{HOST}/käse"),
]

NOT_MATCHING = [
    ("**/api/cart", f"{HOST}/api/cart/1"),
    ("**/api/cart", f"{HOST}/api/carts"),
    ("**/api/*", f"{HOST}/api/cart/1"),
    ("**/a.b", f"{HOST}/aXb"),
    ("**/a?b", f"{HOST}/aXb"),
    ("**/*.{png,jpg}", f"{HOST}/b.gif"),
    ("http://shop.test/*", "https://shop.test/x"),
    ("http://shop.test:443/x", "http://shop.test/x"),
    ("**/path", f"{HOST}/Path"),
    (r"**/a\*b", f"{HOST}/aXb"),
]


@pytest.mark.parametrize(("pattern", "url"), MATCHING)
def test_a_glob_finds_what_it_means(pattern: str, url: str) -> None:
    assert matches(pattern, url)


@pytest.mark.parametrize(("pattern", "url"), NOT_MATCHING)
def test_a_glob_leaves_the_rest_alone(pattern: str, url: str) -> None:
    assert not matches(pattern, url)


@pytest.mark.parametrize("pattern", ["/api/cart", "api/cart", "/api/{cart,basket}", "{/api,/v2}/cart"])
def test_a_pattern_without_scheme_is_a_path_from_the_root_of_any_origin(pattern: str) -> None:
    assert matches(pattern, f"{HOST}/api/cart")
    assert matches(pattern, "https://127.0.0.1:8443/api/cart")
    assert not matches(pattern, f"{HOST}/v3/api/cart")
    assert not matches(pattern, f"{HOST}/?next=http://x/api/cart")


@pytest.mark.parametrize("pattern", ["**/api/cart", "/api/cart", "http://shop.test/api/*"])
def test_a_pattern_without_question_mark_matches_whatever_the_query(pattern: str) -> None:
    assert matches(pattern, f"{HOST}/api/cart?page=2&next=/a/b#top")


def test_a_pattern_with_question_mark_holds_the_query_to_its_word() -> None:
    assert matches("**/api/cart?page=*", f"{HOST}/api/cart?page=2#top")
    assert not matches("**/api/cart?page=*", f"{HOST}/api/cart")
    assert not matches("**/api/cart?page=*", f"{HOST}/api/cart?size=9")


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("", r"write for example \*\*/api/cart"),
        (" **/api", "blanks"),
        ("**/a\nb", "unprintable"),
        ("**/{a", "without its"),
        ("**/a}", "a brace too many"),
        ("**/{a,{b,c}}", "a brace too many"),
        ("localhost:8000/api", "write http://localhost:8000/api"),
    ],
)
def test_a_pattern_that_cannot_be_meant_is_refused(pattern: str, told: str) -> None:
    with pytest.raises(PatternError, match=told):
        matches(pattern, HOST)


@pytest.mark.parametrize(("pattern", "url"), MATCHING)
def test_the_union_finds_what_any_of_its_patterns_finds(pattern: str, url: str) -> None:
    assert union(["**/never", pattern]).search(url)


def test_the_union_leaves_other_urls_alone() -> None:
    sieve = union(["**/api/cart", "/img/*"])
    assert not sieve.search(f"{HOST}/api/carts")
    assert not sieve.search(f"{HOST}/api/cart/1")


@given(path=st.text("ab/*{},?\\", max_size=12), url=st.text("ab/,?#", max_size=12))
def test_the_union_never_holds_back_a_match(path: str, url: str) -> None:
    """Whatever matches passes the sieve first."""
    try:
        found = matches(f"**/{path}", f"{HOST}/{url}")
    except PatternError:
        return
    assert not found or union([f"**/{path}"]).search(f"{HOST}/{url}")
