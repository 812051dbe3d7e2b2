"""One split of a data set of the Hugging Face Hub, or of a folder in its shape, through `datasets`.

Data sets are read from their files alone: `datasets` runs no code of theirs. What a gated one needs is in HF_TOKEN.
"""

import tempfile

import pyarrow as pa


class HubError(ValueError):
    """A data set cannot be read; the message names the key and how to mend it."""


def read_split(
    path: str, subset: str, part: str, revision: str | None = None, key: str = "hub"
) -> tuple[pa.Table, str]:
    """(rows of the split `part` of the configuration `subset`, what says which version they are of).

    `path`: owner/name on the Hub, or a folder in the shape of a data set there. The version of the first is its commit,
    of the second a hash of its layout. A data set without configurations has one, `default`. `key` is where `path`
    stands in the configuration. HubError: no network, no such data set, configuration or split, gated.
    """
    import datasets
    from datasets.exceptions import DatasetNotFoundError

    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as cache:  # the prepared copy; downloads stay in the Hub's own cache
        try:
            builder = datasets.load_dataset_builder(path, subset, revision=revision, cache_dir=cache)
            builder.download_and_prepare()
            found = builder.as_dataset(split=part)
        except DatasetNotFoundError as error:
            raise HubError(
                f"{key}: {error} Check name and revision; of a gated or private data set accept the terms on its page "
                "and set the environment variable HF_TOKEN"
            ) from error
        except ConnectionError as error:
            raise HubError(
                f"{key}: {error}. Check the network and HF_HUB_OFFLINE, or give the folder of a copy as {key}"
            ) from error
        except FileNotFoundError as error:
            raise HubError(f"{key}: {error}; give a data set's name on the Hub, owner/name, or its folder") from error
        except ValueError as error:
            raise HubError(f"{key}: {subset}/{part} is not in {path}: {error}; mend the sets' file") from error
        return pa.Table.from_batches(
            found.with_format("arrow")[:].to_batches(), found.features.arrow_schema
        ), builder.hash
