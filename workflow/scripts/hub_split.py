"""Fetch one split of a data set of the Hub, or of a folder in its shape."""


def hub_split(
    table: str, version: str, source: str, subset: str, part: str,
    hub: str | None = None, revision: str | None = None, files: list[str] = (), names: list[str] = (),
) -> None:  # fmt: skip
    """Write `table` (Parquet), the split `part` of the configuration `subset` of the data set `hub`; `version` (JSON)
    says which commit of it that is.

    Without `hub` it is read from a folder: `files` are all in it, called `names` below it. HubError names the key
    sources.<source>.hub.
    """
    import json

    import pyarrow.parquet as pq

    from unlearning.data.hub import read_split
    from unlearning.tables.artifacts import replacing, write_text

    folder = None if hub else files[0].removesuffix(names[0])
    rows, commit = read_split(hub or folder, subset, part, revision, f"sources.{source}.hub")
    told = {"hub": hub, "revision": revision, "commit": commit if hub else None, "rows": rows.num_rows}
    write_text(version, json.dumps(told, indent=1) + "\n")
    with replacing(table) as temporary:
        pq.write_table(rows, temporary)


if __name__ == "__main__":
    from job import run

    run(snakemake, hub_split)  # noqa: F821
