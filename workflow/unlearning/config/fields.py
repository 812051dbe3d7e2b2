"""What the sections of the configuration are made of: the base class and the kinds of values."""

import math
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError


def _no_truth(kind: str) -> BeforeValidator:
    """Refuses true and false, which count as 1 and 0 otherwise; `kind` is the error's, for `words`."""

    def check(value: object) -> object:
        if isinstance(value, bool):
            raise PydanticCustomError(kind, "true or false is no number")
        return value

    return BeforeValidator(check)


def _said(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank", "nothing is said")
    return value


def _licence(value: object) -> object:
    if not isinstance(value, str) or not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", value):
        raise PydanticCustomError("licence", "no licence identifier")
    return value


Text = Annotated[str, AfterValidator(_said)]
Licence = Annotated[str, BeforeValidator(_licence)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]*$")]
Whole = Annotated[int, _no_truth("int")]
Number = Annotated[float, _no_truth("float"), Field(allow_inf_nan=False)]
Positive = Annotated[Whole, Field(gt=0)]
Count = Annotated[Whole, Field(ge=0)]
Share = Annotated[Number, Field(ge=0, le=1)]
# below 1: where the rest must not be empty
Part = Annotated[Number, Field(ge=0, lt=1)]


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
