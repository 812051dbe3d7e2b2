"""The section of benchmarks of kind umu: how UMU-Bench's data are built."""

from typing import Literal

from pydantic import Field

from unlearning.config.every_benchmark import Benchmark
from unlearning.config.fields import Count, Name, Positive, Section, Text, Whole

Asked = Literal["gender", "birthplace", "birth_date", "occupation", "education", "hobby"]


class UmuPeople(Section):
    """How many people UMU-Bench's data are about; the defaults are the paper's."""

    memorised: Positive = Field(500, description="invented people the target memorises")
    known: Count = Field(
        153, description="invented people, taught before and never unlearned, in place of real people (see `real`)"
    )
    background: Count = Field(
        0, description="other invented people, taught before, with every form of question in both modalities"
    )


class Umu(Benchmark):
    """UMU-Bench: invented people with drawn faces, asked about in text and by their pictures."""

    kind: Literal["umu"] = Field(description="which construction: umu")
    cut: Name = Field("small", description="name of the cut, a folder below results/data/<benchmark>/")
    people: UmuPeople = Field(UmuPeople(), description="who is asked about")
    forget: dict[Name, Positive] = Field(
        {"p5": 25, "p10": 50, "p15": 75},
        min_length=1,
        description="split name -> how many memorised people it forgets; the defaults are 5, 10 and 15 %",
    )
    fields: list[Asked] | Literal["all"] = Field(
        "all", description="fields asked about, besides name and description; all = the six"
    )
    text_side: Literal["text", "text_with_image", "none"] = Field(
        "text",
        description="how questions that name the person are taught: in text, with the picture beside it, or not at "
        "all; asked are both modalities, whatever it says",
    )
    practice: Whole = Field(
        1,
        ge=1,
        le=100,
        description="draws of options in which background people practise each choice; several keep a small model from "
        "telling the answer by the options",
    )
    picture_size: Whole = Field(224, ge=28, le=1024, description="pixels of a picture's side")
    source: Name | None = Field(None, description="key of `sources`: the folder of `real`")
    real: Text | None = Field(
        None,
        description="file in that folder with real people instead of `people.known`, CSV, Parquet, JSON or JSON Lines: "
        "columns id, name, image (a path below the folder) and any field; null = none",
    )
    seed: Whole = Field(0, description="seed of people, options and splits")
    language: Literal["en"] = Field("en", description="language of the questions")

    def files(self) -> set[str]:
        """The table of real people, in its folder; the pictures stand in it."""
        return {self.real} if self.real else set()

    @property
    def files_key(self) -> str:
        """The key under which they are named."""
        return "real"

    @property
    def splits(self) -> list[str]:
        """The names of the splits."""
        return list(self.forget)
