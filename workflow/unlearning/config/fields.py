"""What the sections of the configuration are made of: the base class and the kinds of values."""

import math
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]*$")]
Positive = Annotated[int, Field(gt=0)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
# below 1: where the rest must not be empty
Part = Annotated[float, Field(ge=0, lt=1)]


def _number(value: object) -> object:
    """Text that is a number as one (YAML reads 1e-5 as text); anything else as it is."""
    for kind in (int, float) if isinstance(value, str) else ():
        try:
            return kind(value) if math.isfinite(kind(value)) else value
        except ValueError:
            pass
    return value


# A parameter of a term or an attack, whose module says what it may be.
Parameter = Annotated[int | float | str | bool, BeforeValidator(_number)]


class Section(BaseModel):
    """A section of the configuration; keys it does not know are refused."""

    model_config = ConfigDict(extra="forbid", validate_default=True)
