"""Opening a tower on a server: what is made there, what is refused, and in which words."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from bughunt.exceptions import BughuntError, NewerSchema, TowerUnavailable, UsageError
from bughunt.tower import Tower
from tests.postgres import Server
from tests.tower.making import a_question
from tests.tower.raw import LANDED, opened


def test_processes_that_open_an_empty_database_at_once_make_one_schema(postgres: Server) -> None:
    with postgres.database("template0") as url:

        def opens(_: int) -> int:
            with closing(Tower.open(url)) as tower:
                return tower.ask(a_question()).id

        with ThreadPoolExecutor(4) as pool:
            numbers = set(pool.map(opens, range(4)))
        with opened(url) as raw:  # which number, is the server's: who came second used one up
            assert raw.rows("SELECT id FROM question") == [(number,) for number in numbers]


def test_another_programs_database(postgres: Server) -> None:
    with postgres.database("template0") as url:
        with opened(url) as raw:
            raw.execute("CREATE TABLE theirs (id integer)")
        with pytest.raises(TowerUnavailable, match="another program's database"):
            Tower.open(url)
        with opened(url) as raw:
            assert raw.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [("theirs",)]


def test_a_newer_schema(postgres: Server) -> None:
    with postgres.database() as url:
        with opened(url) as raw:
            raw.execute("UPDATE alembic_version SET version_num = '0999'")
        with pytest.raises(NewerSchema, match="schema 0999"):
            Tower.open(url)


def test_an_encoding_that_cannot_hold_all_text(postgres: Server) -> None:
    name = "bughunt_ascii"
    postgres.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
    try:
        with pytest.raises(UsageError, match="SQL_ASCII"):
            Tower.open(postgres.named(name))
    finally:
        postgres.execute(f"DROP DATABASE {name}")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://anna:hunter2@127.0.0.1:1/tower", "Connection refused"),
        ("postgresql://anna:hunter2@/tower?host=/nowhere", "No such file"),
    ],
)
def test_no_server(url: str, told: str) -> None:
    with pytest.raises(BughuntError, match=told) as refused:
        Tower.open(url)
    assert "\n" not in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_no_such_database(postgres: Server) -> None:
    with pytest.raises(TowerUnavailable, match="does not exist"):
        Tower.open(postgres.named("bughunt_nowhere"))


def test_a_password_is_not_shown(postgres: Server) -> None:
    with (
        postgres.database() as url,
        closing(Tower.open(url.replace("//postgres@", "//postgres:hunter2@"))) as tower,
    ):
        assert "hunter2" not in tower.name
        assert tower.name.startswith("postgresql://postgres:***@")


def test_a_temporary_table_proves_nothing(postgres: Server) -> None:
    """A session could put one in front of the tower's own."""
    with postgres.database() as url, opened(url) as raw:
        run = raw.run_in("VERIFYING")
        raw.execute("CREATE TEMPORARY TABLE evidence AS SELECT * FROM evidence WITH NO DATA")
        raw.execute("CREATE TEMPORARY VIEW proof AS SELECT 1 AS run_id, 'judgement' AS kind")
        code = raw.refusal_outside(lambda: raw.update("run", run, LANDED))
        assert code == "RUN_DONE_REQUIRES_VERIFIED_LANDING"


@pytest.mark.parametrize(
    "table",
    ["question", "run", "receipt", "relation", "attachment", "event", "evidence", "tombstone", "blob"],
)
def test_no_table_is_emptied(postgres: Server, table: str) -> None:
    with postgres.database() as url, opened(url) as raw:
        code = raw.refusal_outside(lambda: raw.execute(f"TRUNCATE {table} CASCADE"))
        assert code is not None
