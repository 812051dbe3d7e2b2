"""Faces as pictures: big clear shapes on a square, from attributes alone, so that equal attributes give equal bytes."""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from unlearning.data.umu.faces import BACKGROUNDS, CLOTHES, EYES, HAIR, HATS, OLD_HAIR, SKINS

if TYPE_CHECKING:
    from PIL import Image

FINE = 2  # drawn so many times larger and then reduced, for smooth edges
LINE = "#2a1d16"
FACES = {"round": (28, 32, 72, 80), "long": (31, 28, 69, 84), "square": (28, 31, 72, 80)}  # left, top, right, bottom


def picture(face: Mapping[str, str], size: int) -> "Image.Image":
    """The face with these attributes (see `faces.draw_face`), `size` x `size` pixels."""
    from PIL import Image

    canvas = Canvas(size * FINE)
    for part in (_backdrop, _hair_behind, _body, _head, _features, _beard, _glasses, _hair, _hat):
        part(canvas, face)
    return canvas.image.resize((size, size), Image.Resampling.BOX)


def png(image: "Image.Image") -> bytes:
    """The picture as a PNG file."""
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


class Canvas:
    """A square picture on which shapes are drawn in hundredths of its side."""

    def __init__(self, side: int):
        from PIL import Image, ImageDraw

        self.image = Image.new("RGB", (side, side))
        self._draw, self._scale = ImageDraw.Draw(self.image), side / 100

    def _at(self, numbers) -> list[int]:
        return [round(number * self._scale) for number in numbers]

    def oval(self, box, fill: str) -> None:
        """An ellipse in `box` (left, top, right, bottom)."""
        self._draw.ellipse(self._at(box), fill=fill)

    def box(self, box, fill: str, round_by: float = 0) -> None:
        """A rectangle, with round corners if asked."""
        self._draw.rounded_rectangle(self._at(box), self._at([round_by])[0], fill=fill)

    def shape(self, points, fill: str) -> None:
        """A polygon of x, y, x, y …"""
        self._draw.polygon(self._at(points), fill=fill)

    def ring(self, box, color: str, width: float, square: bool = False) -> None:
        """The outline of an ellipse, or of a rectangle."""
        draw = self._draw.rectangle if square else self._draw.ellipse
        draw(self._at(box), outline=color, width=self._at([width])[0])

    def arc(self, box, start: int, end: int, color: str, width: float) -> None:
        """A part of an ellipse's outline, from `start` to `end` degrees clockwise from three o'clock."""
        self._draw.arc(self._at(box), start, end, fill=color, width=self._at([width])[0])

    def lens(self, box, start: int, end: int, fill: str) -> None:
        """A part of an ellipse cut off by a straight line."""
        self._draw.chord(self._at(box), start, end, fill=fill)

    def line(self, points, color: str, width: float) -> None:
        """A line through points."""
        self._draw.line(self._at(points), fill=color, width=self._at([width])[0])


def shade(color: str, share: float) -> str:
    """`color` mixed with black (share below 0) or white (above 0), -1 to 1."""
    goal = 255 if share > 0 else 0
    parts = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part + (goal - part) * abs(share)):02x}" for part in parts)


def _hair_color(face: Mapping[str, str]) -> str:
    return (HAIR | OLD_HAIR)[face["hair"]]


def _backdrop(canvas: Canvas, face: Mapping[str, str]) -> None:
    color = BACKGROUNDS[face["background"]]
    light = sum(int(color[at : at + 2], 16) for at in (1, 3, 5)) > 380
    other = shade(color, -0.45 if light else 0.5)
    canvas.box((0, 0, 100, 100), color)
    if face["backdrop"] == "stripes":
        for left in (0, 40, 80):
            canvas.box((left, 0, left + 20, 100), other)
    elif face["backdrop"] == "disc":
        canvas.oval((8, 2, 92, 86), other)
    elif face["backdrop"] == "halves":
        canvas.box((50, 0, 100, 100), other)
    elif face["backdrop"] == "frame":
        canvas.box((0, 0, 100, 18), other)
        canvas.box((0, 0, 16, 100), other)
        canvas.box((84, 0, 100, 100), other)


def _hair_behind(canvas: Canvas, face: Mapping[str, str]) -> None:
    color, style = _hair_color(face), face["style"]
    if style == "long":
        canvas.box((20, 20, 80, 96), color, 22)
    elif style == "bob":
        canvas.box((20, 20, 80, 70), color, 20)
    elif style == "curls":
        for x, y in ((26, 34), (74, 34), (20, 48), (80, 48), (24, 62), (76, 62)):
            canvas.oval((x - 11, y - 11, x + 11, y + 11), color)
    elif style == "pigtails":
        canvas.oval((6, 36, 26, 76), color)
        canvas.oval((74, 36, 94, 76), color)
    elif style == "bun" and face["hat"] == "none":
        canvas.oval((36, 2, 64, 28), color)


def _body(canvas: Canvas, face: Mapping[str, str]) -> None:
    color = CLOTHES[face["clothes"]]
    other = shade(color, 0.6 if color not in (CLOTHES["white"], CLOTHES["gold"]) else -0.5)
    canvas.box((42, 70, 58, 92), shade(SKINS[face["skin"]], -0.15))
    canvas.box((8, 84, 92, 130), color, 16)
    if face["pattern"] == "stripes":
        for left in (20, 38, 56, 74):
            canvas.box((left, 84, left + 8, 100), other)
    elif face["pattern"] == "collar":
        canvas.shape((36, 84, 50, 100, 64, 84), other)
    elif face["pattern"] == "scarf":
        canvas.box((28, 80, 72, 92), other, 5)


def _head(canvas: Canvas, face: Mapping[str, str]) -> None:
    skin, box = SKINS[face["skin"]], FACES[face["shape"]]
    for middle in (box[0], box[2]):
        canvas.oval((middle - 5, 48, middle + 5, 62), shade(skin, -0.1))
    if face["shape"] == "square":
        canvas.box(box, skin, 12)
    else:
        canvas.oval(box, skin)


def _features(canvas: Canvas, face: Mapping[str, str]) -> None:
    skin, hair = SKINS[face["skin"]], _hair_color(face)
    for x in (40, 60):
        canvas.oval((x - 6, 47, x + 6, 57), "#ffffff")
        canvas.oval((x - 4, 48, x + 4, 56), EYES[face["eyes"]])
        canvas.oval((x - 1.5, 50.5, x + 1.5, 53.5), "#000000")
        canvas.line((x - 6, 43.5, x + 6, 43.5), shade(hair, -0.3), 2)
    canvas.line((50, 54, 48, 63, 52, 63), shade(skin, -0.35), 1.5)
    if face["wrinkles"] == "some":
        for y in (37, 40):
            canvas.line((40, y, 60, y), shade(skin, -0.45), 1.2)
        canvas.line((35, 62, 38, 69), shade(skin, -0.45), 1.5)
        canvas.line((65, 62, 62, 69), shade(skin, -0.45), 1.5)
    lips = "#c3123d" if face["lips"] == "painted" else shade(skin, -0.5)
    if face["mouth"] == "smile":
        canvas.arc((40, 58, 60, 74), 20, 160, lips, 2.5)
    elif face["mouth"] == "open":
        canvas.oval((43, 66, 57, 75), lips)
        canvas.oval((45.5, 68, 54.5, 73), "#3a0a10")
    else:
        canvas.line((42, 70, 58, 70), lips, 2.5)


def _beard(canvas: Canvas, face: Mapping[str, str]) -> None:
    color, kind = _hair_color(face), face["beard"]
    if kind in ("moustache", "full"):
        canvas.box((39, 63.5, 61, 67.5), color, 2)
    if kind == "goatee":
        canvas.oval((43, 73, 57, 86), color)
    elif kind == "full":
        left, _, right, bottom = FACES[face["shape"]]
        canvas.lens((left, 56, right, bottom + 8), 12, 168, color)
        canvas.line((43, 71, 57, 71), "#7a2b2b", 2.5)


def _glasses(canvas: Canvas, face: Mapping[str, str]) -> None:
    kind = face["glasses"]
    for left, right in ((31, 48), (52, 69)) if kind != "none" else ():
        if kind == "dark":
            canvas.box((left, 44.5, right, 59), "#0d0d12", 4)
        else:
            canvas.ring((left, 43.5, right, 60.5), LINE, 1.8, square=kind == "square")
    if kind != "none":
        canvas.line((48, 51, 52, 51), LINE, 1.8)


def _hair(canvas: Canvas, face: Mapping[str, str]) -> None:
    color, style = _hair_color(face), face["style"]
    if style == "bald" or (style == "mohawk" and face["hat"] != "none"):
        return
    if style == "mohawk":
        canvas.shape((43, 40, 40, 6, 60, 6, 57, 40), color)
        return
    canvas.lens((24, 18, 76, 66), 195, 345, color)
    if style == "spikes" and face["hat"] == "none":
        for x in (26, 36, 46, 56, 66):
            canvas.shape((x, 34, x + 4, 6, x + 10, 34), color)
    elif style == "curls":
        for x in (30, 40, 50, 60, 70):
            canvas.oval((x - 9, 13, x + 9, 33), color)
    elif style == "fringe":
        canvas.box((27, 26, 73, 44), color, 6)
        canvas.box((22, 28, 30, 66), color, 4)
        canvas.box((70, 28, 78, 66), color, 4)
    elif style == "parting":
        canvas.shape((26, 46, 30, 20, 72, 18, 76, 30, 44, 28), color)


def _hat(canvas: Canvas, face: Mapping[str, str]) -> None:
    if face["hat"] == "none":
        return
    color = HATS[face["hat_color"]]
    band = shade(color, -0.4 if face["hat_color"] != "black" else 0.4)
    if face["hat"] == "cap":
        canvas.lens((25, 8, 75, 58), 180, 360, color)
        canvas.box((46, 30, 92, 37), band, 3)
    elif face["hat"] == "beanie":
        canvas.lens((23, 6, 77, 60), 180, 360, color)
        canvas.box((22, 27, 78, 37), band, 4)
        canvas.oval((43, 0, 57, 13), band)
    elif face["hat"] == "brim":
        canvas.box((32, 10, 68, 32), color, 6)
        canvas.oval((8, 26, 92, 38), color)
        canvas.box((32, 24, 68, 29), band)
    else:
        canvas.box((31, 0, 69, 30), color)
        canvas.box((31, 22, 69, 29), band)
        canvas.box((20, 28, 80, 35), color, 2)
