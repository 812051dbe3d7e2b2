"""One picture of all faces with names below, to look at."""

import io
import math

import pandas as pd

COLUMNS = 24
MARGIN = 2
COLORS = 128
SMALLEST = 16


def sheet(people: pd.DataFrame, side: int = 64, most: int = 440_000) -> bytes:
    """A PNG with every picture of table `people` at `side` pixels and the name below; at most `most` bytes long, so
    that a page grows by 600 kB or less.

    Where it would be longer, the faces are smaller.
    """
    from PIL import Image

    while True:
        out = io.BytesIO()
        _drawn(people, side).quantize(COLORS, Image.Quantize.MEDIANCUT).save(out, "PNG", optimize=True)
        if out.tell() <= most or side <= SMALLEST:
            return out.getvalue()
        side = max(min(int(side * math.sqrt(most / out.tell())), side - 1), SMALLEST)


def _drawn(people: pd.DataFrame, side: int):
    from PIL import Image, ImageDraw, ImageFont

    across = min(COLUMNS, len(people))
    size = max(side // 7, 5)
    font = ImageFont.load_default(size)
    wide, high = side + MARGIN, side + 2 * size + 3 * MARGIN
    page = Image.new("RGB", (across * wide + MARGIN, math.ceil(len(people) / across) * high + MARGIN), "#ffffff")
    pen = ImageDraw.Draw(page)
    for number, row in enumerate(people[["name", "image"]].to_dict("records")):
        left, top = (number % across) * wide + MARGIN, (number // across) * high + MARGIN
        with Image.open(io.BytesIO(row["image"]["bytes"])) as image:
            page.paste(image.convert("RGB").resize((side, side), Image.Resampling.BOX), (left, top))
        first, _, last = row["name"].partition(" ")
        for line, words in enumerate((first, last)):
            pen.text((left, top + side + line * size), words[:14], fill="#222222", font=font)
    return page
