"""The cart under test is what its README says: a real server, and a page with one switchable bug."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser, Page, Route, expect

from target_apps.cart import ITEMS, CartServer


@pytest.fixture(scope="module")
def cart() -> Iterator[CartServer]:
    with CartServer() as server:
        yield server


@pytest.fixture
def client(cart: CartServer) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(cart.url.removeprefix("http://"), timeout=5)
    yield connection
    connection.close()


@pytest.fixture
async def page(browser: Browser, cart: CartServer) -> AsyncIterator[Page]:
    context = await browser.new_context(base_url=cart.url)
    yield await context.new_page()
    await context.close()


def ask(
    client: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None
) -> tuple[http.client.HTTPResponse, bytes]:
    client.request(method, path, body=body)
    response = client.getresponse()
    return response, response.read()


# The server


def test_the_items_add_up_to_487_and_without_quantities_to_288() -> None:
    assert sum(item["price"] * item["qty"] for item in ITEMS) == 487.00
    assert sum(item["price"] for item in ITEMS) == 288.00


def test_the_api_gives_the_items_as_json(client: http.client.HTTPConnection) -> None:
    response, body = ask(client, "GET", "/api/cart")
    assert response.status == 200
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    assert response.headers["Content-Length"] == str(len(body))
    assert json.loads(body) == {"items": list(ITEMS)}


@pytest.mark.parametrize("path", ["/", "/?v=buggy"])
def test_the_page_is_html_and_takes_nothing_from_the_internet(
    client: http.client.HTTPConnection, path: str
) -> None:
    response, body = ask(client, "GET", path)
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert b"https://" not in body
    assert body.count(b"http://") == 1  # the name space of the icon, which is no address to fetch


def test_head_gives_the_headers_of_get_and_no_body(client: http.client.HTTPConnection) -> None:
    _, page = ask(client, "GET", "/")
    response, body = ask(client, "HEAD", "/")
    assert (response.status, body) == (200, b"")
    assert response.headers["Content-Length"] == str(len(page))


def test_one_connection_serves_all_kinds_of_answers(client: http.client.HTTPConnection) -> None:
    client.connect()
    first = client.sock
    statuses = [
        ask(client, method, path, body)[0].status
        for method, path, body in [
            ("GET", "/", None),
            ("HEAD", "/api/cart", None),
            ("GET", "/nowhere", None),
            ("POST", "/api/cart", b"{}"),
            ("GET", "/api/cart", None),
        ]
    ]
    assert statuses == [200, 200, 404, 405, 200]
    assert client.sock is first


def test_a_path_that_takes_other_methods_names_them(client: http.client.HTTPConnection) -> None:
    response, _ = ask(client, "DELETE", "/api/cart")
    assert (response.status, response.headers["Allow"]) == (405, "GET")


@pytest.mark.parametrize(
    ("name", "value"),
    [("Transfer-Encoding", "chunked"), ("Content-Length", "two"), ("Content-Length", "9000000")],
)
def test_a_body_of_unfit_length_is_refused_and_the_connection_closed(
    client: http.client.HTTPConnection, name: str, value: str
) -> None:
    client.putrequest("POST", "/api/cart")
    client.putheader(name, value)
    client.endheaders()
    response = client.getresponse()
    assert response.read()
    assert (response.status, response.headers["Connection"]) == (400, "close")


def test_clients_that_hang_up_leave_no_traceback(cart: CartServer, capfd: pytest.CaptureFixture[str]) -> None:
    host, port = cart.url.removeprefix("http://").split(":")
    half = b"POST /api/cart HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"
    for sent in (b"", b"GET / HT", half, b"GET /api/cart HTTP/1.1\r\n\r\n" * 50):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(sent)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with CartServer() as other:  # leaving waits for its threads: what they had to say is said
        host, port = other.url.removeprefix("http://").split(":")
        connection = socket.create_connection((host, int(port)))
        connection.sendall(half)
    connection.close()
    assert capfd.readouterr().err == ""


def test_leaving_closes_idle_connections_and_ends_every_thread() -> None:
    before = set(threading.enumerate())
    with CartServer() as server:
        client = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=5)
        ask(client, "GET", "/")
        started = set(threading.enumerate()) - before
        sock = client.sock
    assert len(started) == 2  # it listens on one, and serves this client on the other
    assert not any(thread.is_alive() for thread in started)
    assert sock is not None
    assert sock.recv(1) == b""
    client.close()


def test_the_url_is_known_only_while_the_server_runs() -> None:
    server = CartServer()
    with pytest.raises(RuntimeError, match="context manager"):
        _ = server.url
    with server, pytest.raises(RuntimeError, match="running already"):
        server.__enter__()


def test_a_server_can_be_entered_again_on_a_port_of_choice() -> None:
    with CartServer() as server:
        url = server.url
    again = CartServer(port=int(url.rpartition(":")[2]))
    for _ in range(2):
        with again:
            assert again.url == url


# The command


def test_the_command_prints_its_url_and_serves_until_interrupted() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "target_apps.cart"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = process.stdout.readline().strip()
        client = http.client.HTTPConnection(url.removeprefix("http://"), timeout=5)
        assert ask(client, "GET", "/api/cart")[0].status == 200
        client.close()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=10) == 0
        assert process.stderr.read() == ""


def test_the_command_says_in_one_line_that_a_port_is_taken(cart: CartServer) -> None:
    port = cart.url.rpartition(":")[2]
    done = subprocess.run(
        [sys.executable, "-m", "target_apps.cart", "--port", port],
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"Cannot listen on 127.0.0.1:{port}: ")
    assert done.stderr.count("\n") == 1


# The page


@pytest.mark.parametrize(("path", "total"), [("/", "487.00"), ("/?v=buggy", "288.00")])
async def test_the_page_shows_its_items_and_the_total(page: Page, path: str, total: str) -> None:
    problems: list[object] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(error))
    await page.goto(path)
    await expect(page.get_by_test_id("status")).to_have_text("loaded")
    await expect(page.get_by_test_id("total")).to_have_text(total)
    await expect(page.get_by_role("row")).to_have_count(2 + len(ITEMS))
    await expect(page.get_by_role("row", name="Mechanical keyboard 199.00 2")).to_be_visible()
    assert problems == []


async def test_an_aborted_api_is_reported_with_its_reason_and_no_total(page: Page) -> None:
    async def reset(route: Route) -> None:
        await route.abort("connectionreset")

    await page.route("**/api/cart", reset)
    await page.goto("/")
    await expect(page.get_by_role("status")).to_have_text("Loading failed: Failed to fetch")
    await expect(page.get_by_test_id("total")).to_have_text("–")


async def test_an_error_status_is_reported(page: Page) -> None:
    async def unavailable(route: Route) -> None:
        await route.fulfill(status=503)

    await page.route("**/api/cart", unavailable)
    await page.goto("/")
    await expect(page.get_by_test_id("status")).to_have_text("Loading failed: the server answered 503")


async def test_an_api_that_does_not_answer_is_given_up(page: Page) -> None:
    async def silence(route: Route) -> None:
        pass

    await page.route("**/api/cart", silence)
    async with page.expect_event("requestfailed") as failed:
        await page.goto("/")
    assert (await failed.value).failure == "net::ERR_ABORTED"
    await expect(page.get_by_test_id("status")).to_have_text("Loading failed: signal timed out")
    await page.unroute_all(behavior="ignoreErrors")
