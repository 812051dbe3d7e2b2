"""Small SQLite files that several jobs share: opened, checked, and safe when a job is killed at any moment."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from unlearning.tables.artifacts import NoRoom

WAIT = 60.0  # seconds to wait for another job's write
FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)  # the disk is; a quota or a file's greatest size was reached


class DatabaseError(ValueError):
    """A file is not the database it should be, or cannot be used; the message names it and how to mend it."""


@contextlib.contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction: what is written within is all on disk at the end, or none of it where anything fails.

    Raises NoRoom where the disk is full, what sqlite3 raises otherwise.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:  # an error may have ended it
                connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode in FULL:
            path = connection.execute("PRAGMA database_list").fetchone()[2]
            raise NoRoom(f"no room to write {path} ({error}): free disk space and run again") from error
        raise


def connect(path: Path | str, mark: int, tables: str, what: str) -> sqlite3.Connection:
    """The database at `path`, made with the statement `tables` if there is none; `mark` tells our kinds apart.

    A rollback journal works on network disks too. Whatever is written is written within `writing`. DatabaseError: the
    file is something else, or no database can be opened there. Raises NoRoom.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("PRAGMA synchronous=NORMAL")
        with writing(connection):
            found = connection.execute("PRAGMA application_id").fetchone()[0]
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                connection.execute(tables)
                connection.execute(f"PRAGMA application_id={mark}")
                found = mark
    except sqlite3.OperationalError as error:
        raise DatabaseError(f"{path}: the {what} cannot be opened ({error}); is the folder writable?") from error
    except sqlite3.DatabaseError as error:
        raise DatabaseError(f"{path} is not a {what} ({error}); move it away and run again") from error
    if found != mark:
        connection.close()
        raise DatabaseError(f"{path} is not a {what} but another database; move it away and run again")
    return connection
