"""The restore store: finished results of the expensive rules, keyed by what they depend on.

An entry is a folder `<key>/` holding hard links to a job's output files. Changing a setting and changing it back
restores instead of computing. Files are never written in place anywhere in the workflow (always renamed), so a link
cannot be altered through its other name; every file's sha256 is checked before it is given back all the same.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from unlearning.tables.artifacts import NoRoom, link, room_for, sha256_file, write_text

MANIFEST = "manifest.json"


def job_key(code: str, values: Mapping, inputs: Mapping[str, list[str]]) -> str:
    """sha256 over the code fingerprint, the parameters and the content of the inputs (paths do not matter)."""
    parts = {"code": code, "values": values, "inputs": inputs}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def content_of(path: Path) -> str:
    """sha256 of a file, or of the names and contents of all files below a folder."""
    path = Path(path)
    if path.is_file():
        return sha256_file(path)
    lines = [f"{p.relative_to(path)} {sha256_file(p)}" for p in sorted(path.rglob("*")) if _counts(p)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _counts(path: Path) -> bool:
    return path.is_file() and path.name != ".snakemake_timestamp"


def _covers(entry: Path, outputs: Mapping[str, Path]) -> bool:
    """Whether an entry has all of `outputs`: a job may have been asked for fewer when it was kept."""
    try:
        kept = json.loads((entry / MANIFEST).read_text())
        return set(outputs) <= {*kept["files"], *kept["folders"]}
    except (OSError, ValueError, KeyError):
        return False


def _members(outputs: Mapping[str, Path]) -> dict[Path, Path]:
    """Place in an entry -> file, of every file of the outputs."""
    found = {}
    for name, path in outputs.items():
        path = Path(path)
        if path.is_dir():
            found |= {Path(name) / p.relative_to(path): p for p in sorted(path.rglob("*")) if _counts(p)}
        else:
            found[Path(name)] = path
    return found


def save(store: Path, key: str, outputs: Mapping[str, Path]) -> None:
    """Keep the output files and folders under `key`; atomic. An entry that has them all stands, any other goes.

    Where there is no room for it a warning says so: the outputs are whole without. FileNotFoundError where they are
    being taken away (by the next run, if this job's was killed): what is left of them must not pass for a result.
    """
    entry = Path(store) / key[:2] / key
    try:
        with room_for(entry):
            _save(entry, outputs)
    except NoRoom as error:
        print(f"warning: not kept for later runs, which will make it again: {error}", flush=True)


def _save(entry: Path, outputs: Mapping[str, Path]) -> None:
    if entry.exists():
        if _covers(entry, outputs):
            return
        shutil.rmtree(entry, ignore_errors=True)
    entry.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{entry.name[:8]}.", suffix=".tmp", dir=entry.parent))
    try:
        members, files = _members(outputs), {}
        folders = [name for name, path in outputs.items() if Path(path).is_dir()]
        for inside, member in members.items():
            link(member, work / "files" / inside)
            files[str(inside)] = sha256_file(member)
        if _members(outputs) != members:
            raise FileNotFoundError(f"files of {', '.join(map(str, outputs.values()))} were taken away meanwhile")
        write_text(work / MANIFEST, json.dumps({"files": files, "folders": folders}))
        os.replace(work, entry)
    except OSError:
        if not entry.exists():  # lost a race against an equal job: its entry serves
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def restore(store: Path, key: str, outputs: Mapping[str, Path]) -> bool:
    """Put the files kept under `key` in place. False when there is no intact entry that has them all; a damaged one is
    removed."""
    entry = Path(store) / key[:2] / key
    manifest = entry / MANIFEST
    try:
        kept = json.loads(manifest.read_text())
        intact = all(sha256_file(entry / "files" / name) == digest for name, digest in kept["files"].items())
    except (OSError, ValueError, KeyError):
        kept, intact = None, False
    if not intact:
        shutil.rmtree(entry, ignore_errors=True)
        return False
    if not _covers(entry, outputs):
        return False
    os.utime(manifest)  # last use, for `prune`
    for name, path in outputs.items():
        _put_back(entry / "files" / name, Path(path), name in kept["folders"])
    return True


def _put_back(source: Path, target: Path, folder: bool) -> None:
    with room_for(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
        try:
            if folder:
                (work / "new").mkdir()
                for member in (p for p in source.rglob("*") if p.is_file()):
                    link(member, work / "new" / member.relative_to(source))
                shutil.rmtree(target, ignore_errors=True)
            else:
                link(source, work / "new")
                os.utime(work / "new")  # newer than its inputs, as a computed file would be
            os.replace(work / "new", target)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def prune(store: Path, limit_bytes: int) -> int:
    """Remove the entries used longest ago until the store fits `limit_bytes`; returns the bytes dropped.

    Sizes are those of the files, also where a result still links to them (then removing frees nothing yet).
    """
    entries = []
    for manifest in Path(store).glob(f"*/*/{MANIFEST}"):
        size = sum(p.stat().st_size for p in manifest.parent.rglob("*") if p.is_file())
        entries.append((manifest.stat().st_mtime, size, manifest.parent))
    total = sum(size for _, size, _ in entries)
    dropped = 0
    for _, size, folder in sorted(entries):
        if total - dropped <= limit_bytes:
            break
        shutil.rmtree(folder)
        dropped += size
    return dropped
