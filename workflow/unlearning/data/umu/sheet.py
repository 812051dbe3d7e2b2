"""One picture of all faces with names below, to look at."""

import io
import math

import pandas as pd

COLUMNS = 24
MARGIN = 2


def sheet(people: pd.DataFrame, side: int = 64, most: int = 600_000) -> bytes:
    """A PNG with every picture of table `people` at `side` pixels and the name below; at most `most` bytes long.

    Where it would be longer it has fewer colors, then smaller faces.
    """
    from PIL import Image

    while True:
        drawn = _drawn(people, side)
        for colors in (None, 64, 16):
            chosen = drawn if colors is None else drawn.quantize(colors, Image.Quantize.MEDIANCUT)
            out = io.BytesIO()
            chosen.save(out, "PNG", optimize=True)
            if out.tell() <= most or (side <= 16 and colors == 16):
                return out.getvalue()
        side = max(side * 3 // 4, 16)


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
