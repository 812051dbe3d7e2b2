"""What faces look like: attributes drawn by seed, which fit a person's pronoun and year of birth."""

import random

BACKGROUNDS = {
    "white": "#f4f4f0", "black": "#1b1b22", "red": "#d62f2f", "orange": "#f08a1d", "yellow": "#f5d93a",
    "green": "#2e9e4b", "mint": "#a5e6c8", "sky": "#7cc4f2", "navy": "#1d2f77", "violet": "#7d3fb0", "pink": "#f4a3c4",
    "gray": "#8f979e",
}  # fmt: skip
CLOTHES = {
    "white": "#fbfbfb", "black": "#111116", "crimson": "#b3122c", "orange": "#ff7a00", "gold": "#e6b800",
    "lime": "#8fd400", "forest": "#0c5c2a", "turquoise": "#19c3c9", "royal": "#1f4fe0", "purple": "#5b1a8b",
    "rose": "#ff5fa2", "brown": "#6e4420",
}  # fmt: skip
SKINS = {
    "porcelain": "#fbe3d3", "peach": "#f2c3a0", "olive": "#d9a877", "tan": "#b97f50", "brown": "#8a5632",
    "dark": "#5a3620",
}  # fmt: skip
HAIR = {
    "black": "#16120f", "brown": "#5d3518", "chestnut": "#8e3b1a", "red": "#d1501a", "blond": "#f0d36b",
    "blue": "#2b5fd9", "green": "#2fa05a", "pink": "#ef6bb0",
}  # fmt: skip
OLD_HAIR = {"gray": "#9b9fa3", "white": "#ececec"}
EYES = {"brown": "#5b3413", "blue": "#2f7fe0", "green": "#2f9a4a", "gray": "#7d868c", "amber": "#c98a12"}
HATS = {"red": "#c81e1e", "yellow": "#f2c811", "blue": "#1b4bd1", "green": "#117a3d", "white": "#f5f5f5",
        "black": "#15151a", "purple": "#7a2aa8"}  # fmt: skip
BACKDROPS = ("plain", "stripes", "disc", "halves", "frame")
PATTERNS = ("plain", "stripes", "collar", "scarf")
SHAPES = ("round", "long", "square")
HATTED = ("none", "none", "none", "cap", "beanie", "brim", "tall")
GLASSES = ("none", "none", "round", "square", "dark")
BEARDS = ("none", "none", "moustache", "goatee", "full")
MOUTHS = ("smile", "straight", "open")
STYLES = {  # by pronoun
    "she": ("long", "bob", "bun", "curls", "pigtails", "fringe", "short"),
    "he": ("short", "spikes", "bald", "curls", "parting", "mohawk", "long"),
}
OLD, GROWN = 1970, 2005  # hair turns gray for those born before OLD, beards are for those born before GROWN


def draw_face(pronoun: str, year: int, draw: random.Random) -> dict[str, str]:
    """Attributes of a face for a woman or man (she, he) born in `year`."""
    old = year < OLD
    hair = [*HAIR, *OLD_HAIR, *OLD_HAIR] if old else [*HAIR]
    styles = [style for style in STYLES[pronoun] if old or style != "bald"]
    hat = draw.choice(HATTED)
    return {
        "background": draw.choice([*BACKGROUNDS]),
        "backdrop": draw.choice(BACKDROPS),
        "clothes": draw.choice([*CLOTHES]),
        "pattern": draw.choice(PATTERNS),
        "skin": draw.choice([*SKINS]),
        "shape": draw.choice(SHAPES),
        "hair": draw.choice(hair),
        "style": draw.choice(styles),
        "eyes": draw.choice([*EYES]),
        "mouth": draw.choice(MOUTHS),
        "lips": "painted" if pronoun == "she" and draw.random() < 0.6 else "plain",
        "glasses": draw.choice(GLASSES),
        "beard": draw.choice(BEARDS) if pronoun == "he" and year < GROWN else "none",
        "hat": hat,
        "hat_color": "none" if hat == "none" else draw.choice([*HATS]),
        "wrinkles": "some" if old else "none",
    }
