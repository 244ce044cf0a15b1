"""One insert at a time, past SQLAlchemy's execution: for what must cost little more than the disk does.

The statement is still SQLAlchemy's, compiled once; errors are translated to its own, so that callers see no
difference. What it saves is most of the time of a durable receipt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from sqlalchemy import Engine, Table, insert
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import PoolProxiedConnection

from bughunt.tower.opening import connected

__all__ = ["Insert", "transaction"]


class Insert:
    """An insert of these columns, which returns the new row's number."""

    def __init__(self, engine: Engine, table: Table, columns: list[str]) -> None:
        compiled: Any = (
            insert(table).returning(table.c.id).compile(engine, column_keys=columns)
        )  # Any: a compiler's
        self._sql = str(compiled)
        self._order: list[str] | None = compiled.positiontup

    def __call__(self, cursor: DBAPICursor, values: Mapping[str, object]) -> int:
        """Insert a row, in the open transaction of this cursor."""
        told = dict(values) if self._order is None else tuple(values[name] for name in self._order)
        cursor.execute(self._sql, told)
        [number] = cast("tuple[int]", cursor.fetchone())
        return number


@contextmanager
def transaction(engine: Engine) -> Iterator[DBAPICursor]:
    """A cursor in a transaction that writes, committed at the end of the block."""
    pooled = connected(engine)
    connection = pooled.connection
    errors = cast("Any", engine.dialect.dbapi).Error
    try:
        cursor = connection.cursor()
        if engine.dialect.name == "sqlite":
            cursor.execute("BEGIN IMMEDIATE")
        yield cursor
        connection.commit()
    except errors as error:
        raise _broken_off(engine, connection, error) from error
    except BaseException:
        connection.rollback()
        raise
    finally:
        pooled.close()


def _broken_off(engine: Engine, connection: PoolProxiedConnection, error: Exception) -> DBAPIError:
    """The driver's error as SQLAlchemy's; the transaction is undone, or its connection given up."""
    lost = engine.dialect.is_disconnect(error, connection, None)  # type: ignore[arg-type]  # asked of any error
    if lost:
        connection.invalidate(error)
    else:
        connection.rollback()
    base = cast("Any", engine.dialect.dbapi).Error
    told = DBAPIError.instance(
        "INSERT", None, error, base, connection_invalidated=lost, dialect=engine.dialect
    )
    assert isinstance(told, DBAPIError)
    return told
