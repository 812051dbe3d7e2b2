"""Small SQLite files that several jobs share: opened, checked, and safe when a job is killed at any moment."""

import sqlite3
from pathlib import Path

WAIT = 60.0  # seconds to wait for another job's write


class DatabaseError(ValueError):
    """A file is not the database it should be, or cannot be used; the message names it and how to mend it."""


def connect(path: Path | str, mark: int, tables: str, what: str) -> sqlite3.Connection:
    """The database at `path`, made with the statement `tables` if there is none; `mark` tells our kinds apart.

    A rollback journal works on network disks too. Writes outside `BEGIN` are committed at once. DatabaseError: the file
    is something else, or no database can be opened there.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        found = connection.execute("PRAGMA application_id").fetchone()[0]
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            connection.execute(tables)
            connection.execute(f"PRAGMA application_id={mark}")
            found = mark
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        raise DatabaseError(f"{path}: the {what} cannot be opened ({error}); is the folder writable?") from error
    except sqlite3.DatabaseError as error:
        raise DatabaseError(f"{path} is not a {what} ({error}); move it away and run again") from error
    if found != mark:
        connection.close()
        raise DatabaseError(f"{path} is not a {what} but another database; move it away and run again")
    return connection
