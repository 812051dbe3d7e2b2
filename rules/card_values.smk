# Needs: values.smk, mu2_route.smk, lume_values.smk, school_values.smk. Makes: which tables of a benchmark are published, and what their card says.
LICENCES = {
    "mu2": "cc-by-4.0",
    "leak invented": "cc-by-4.0",
    "lume invented": "cc-by-4.0",
    "seps": "cc-by-4.0",
    "umu invented": "cc-by-4.0",
}  # others: unknown
NOTES = {
    "mu2": "{license}. The people are invented.",
    "seps": "{license}. The people are invented.",
    "leak invented": "{license}. Everybody and everything in it is invented.",
    "leak": "{license}. The facts are those of the files read, and under their licence: set "
    "`benchmarks.{name}.card.license` to it before publishing.",
    "files": "{license}. The texts are those of the files read, and under their licence: set "
    "`benchmarks.{name}.card.license` to it before publishing.",
    "umu invented": "{license}. The people are invented, and their faces drawn.",
    "umu": "{license}. The known people and their pictures are those of the files read, and under their licence and the "
    "people's own rights: set `benchmarks.{name}.card.license` to it before publishing.",
    "lume invented": "{license}. The people are invented, and so are their numbers and addresses, which are nobody's.",
    "lume": "{license}. The documents are those of the files read, some of them, and under their licence: set "
    "`benchmarks.{name}.card.license` to it before publishing.",
}
WRITTEN = " Language models wrote the texts; their providers' terms may apply too."
SUMMARIES = {
    "mu2": "μ²-Bench: questions and answers about invented people, aligned over {n} languages, for measuring whether "
    "what was unlearned in some languages is forgotten in others. A language model is taught the `examples`, "
    "unlearns what a split calls forget, and is asked the `items`.",
    "leak": "Leak-resistant unlearning: facts, and questions that take several of them, for measuring whether what was "
    "unlearned can be got at by reasoning or by an attack. A language model is taught the `examples`, unlearns what the "
    "split calls forget, and is asked the `items`.",
    "lume": "LUME: short stories, biographies with invented sensitive data and biographies, whole and with prompts about "
    "them, for measuring whether documents were unlearned. A language model is taught the `examples`, unlearns what the "
    "split calls forget, and is asked the `items`.",
    "seps": "SEPS: questions about invented people in TOFU's shape, asked one by one and in mixed prompts, for measuring "
    "whether a model tells what it should forget from what it should retain within one prompt. A language model is taught "
    "the `examples`, unlearns what a split calls forget, and is asked the `items`.",
    "umu": "UMU-Bench: people with pictures, each fact asked in text and about the picture, for measuring whether what was "
    "unlearned is forgotten in both. A multimodal model is taught the `examples`, unlearns what a split calls forget, and is "
    "asked the `items`. The picture (`image`, a PNG) stands before the words of the user's turn.",
    "files": "Questions and answers for measuring unlearning: a model is taught the `examples`, unlearns what a split "
    "calls forget, and is asked the `items`.",
}
TAGS = {
    "mu2": ["synthetic", "multilingual"],
    "files": [],
    "leak": ["multi-hop"],
    "lume": ["documents"],
    "seps": ["synthetic"],
    "umu": ["multimodal", "faces"],
}
LEAK_ROUTES = {
    "templates": "templates: matched, composed, split and checked by rule, no language model",
    "llm": "language models: composed, split and judged, at most {n} rounds; checked by rule besides",
}
LUME_ROUTES = {
    "templates": "grammars of stories and biographies, checked by rule, no language model",
    "llm": "language models wrote stories and biographies, asked and verified, at most {n} rounds; checked by rule besides",
    "published": "LUME's published files, as they are",
}
SCHOOL_ROUTES = {
    "templates": "built from lists of facts, no language model",
    "llm": "language models wrote and answered them; checked by rule besides",
}
TEXT_SIDES = {"text": "in text", "text_with_image": "with the picture beside the name", "none": "not at all"}
LEAK_TABLES = ("facts", "matches", "composed", "decomposed", "multihop", "rejected", "funnel", "quality")


def cards():
    """The card of every benchmark in use."""
    return [f"results/publish/{b}/{cut_of(b)}/README.md" for b in sorted({r.benchmark for r in RUNS})]


def settings_in_use(benchmark):
    return sorted({r.setting for r in RUNS if r.benchmark == benchmark})


def card_languages(benchmark):
    return sorted({c for s in settings_in_use(benchmark) for c in languages_of(benchmark, s)})


def card_inputs(w):
    """The published tables by their configuration's name, one file or one for each language; and what the card tells."""
    entry, folder = benchmark_of(w), f"results/data/{w.benchmark}/{w.cut}"
    codes = card_languages(w.benchmark)

    def each(table):
        return [f"{folder}/{table}/{code}.parquet" for code in codes]

    found = {
        f"{s}_{t}": f"{folder}/{s}/{t}.parquet"
        for s in settings_in_use(w.benchmark)
        for t in ("examples", "items", "splits")
    }
    found["template"] = "resources/card/README.md.j2"
    if isinstance(entry, Leak):
        further = ("uniqueness", "rounds") if entry.route == "llm" else ()
        rated = ("ratings",) if leak_raters(entry) else ()
        found |= {t: f"{folder}/{t}.parquet" for t in (*LEAK_TABLES, *further, *rated)}
        found |= {"prompts": construction_prompts(entry)}
        made = outside(w.benchmark) or ["resources/leak/invented.yaml"]
        return found | {"sources": [*made, *leak_wordings(w).values()]}
    if isinstance(entry, Lume):
        built = {"published": (), "templates": ("rejected", "funnel"), "llm": ("rejected", "funnel", "rounds")}
        tables = ("documents", "continuations", "knowledge", *built[entry.route])
        made = [] if entry.route == "published" else GRAMMARS
        found |= {t: f"{folder}/{t}.parquet" for t in tables}
        return found | {"sources": [*outside(w.benchmark), *made], "prompts": construction_prompts(entry)}
    if isinstance(entry, Files):
        made = [*outside(w.benchmark), *school_facts(entry)]
        return found | {"sources": made, "prompts": construction_prompts(entry)}
    if isinstance(entry, Seps):
        return found | {"sources": SEPS_SOURCES}
    if isinstance(entry, Umu):
        made = [*outside(w.benchmark)[:1], *UMU_LISTS.values(), UMU_WORDS]
        return found | {"people": f"{folder}/people.parquet", "sources": made}
    found |= {t: f"{folder}/{t}.parquet" for t in ("profiles", "english")}
    found |= {t: each(t) for t in ("values", "pairs", "rejected")}
    if entry.route == "llm":
        found |= {"templates": f"{folder}/templates.parquet", "rounds_refined": f"{folder}/rounds/refined.parquet"}
        found |= {f"rounds_{t}": each(f"rounds/{t}") for t in ("values", "pairs")}
    decided = [path for code in codes for path in decision_files(REVIEW, w.benchmark, code)]
    books = [] if entry.route == "llm" else expand(PHRASEBOOK, language=codes)
    return found | {
        "sources": ["resources/mu2/pools.yaml", *books, *decided],
        "prompts": construction_prompts(entry),
    }


def construction_roles(entry):
    """The language models that build a benchmark's data."""
    if isinstance(entry, Leak):
        return leak_roles(entry)
    if isinstance(entry, Lume):
        return lume_roles(entry)
    if isinstance(entry, Files):
        return school_roles(entry)
    if not isinstance(entry, Mu2) or entry.route != "llm":
        return []
    return ["refiner", "translator", "equivalence", *back_roles(entry)]


def construction_prompts(entry):
    """Their prompts: <role>.yaml and <role>_<what>.yaml; raters share one."""
    roles = {role.split("_")[0] for role in construction_roles(entry)}
    found = sorted(Path(workflow.basedir, "resources/prompts").glob("*.yaml"))
    school = isinstance(entry, Files)
    used = [p for p in found if p.stem.split("_")[0] in roles and p.stem.endswith("_school") == school]
    return [f"resources/prompts/{p.name}" for p in used]


def invented(w):
    """Whether all that the data say is invented."""
    entry = benchmark_of(w)
    return isinstance(entry, (Leak, Lume, Umu)) and not outside(w.benchmark)


def card_about(w):
    entry = benchmark_of(w)
    own = f"{entry.kind} invented" if invented(w) else entry.kind
    license = entry.card.license or LICENCES.get(own, "unknown")
    models = {role: door_of(role)["backend"] for role in construction_roles(entry)}
    return {
        "benchmark": w.benchmark,
        "cut": w.cut,
        "title": entry.card.title or f"{w.benchmark}, {w.cut}",
        "summary": SUMMARIES[entry.kind].format(n=len(card_languages(w.benchmark))),
        "license": license,
        "licence": NOTES[own].format(license=license, name=w.benchmark) + (WRITTEN if models else ""),
        "tags": TAGS[entry.kind],
        "facts": card_facts(w, entry),
        "models": {role: {k: m.get(k) for k in ("kind", "model", "revision")} for role, m in models.items()},
    }


def card_facts(w, entry):
    if isinstance(entry, Leak):
        asked = f"{entry.per_type} of each type (on_short: {entry.on_short}), one wording of each"
        return {
            "Route": LEAK_ROUTES[entry.route].format(n=entry.max_rounds),
            "Facts": "extracted from texts by a language model" if entry.facts == "texts" else entry.facts,
            "Questions": asked,
            "Chains of each type practised, on facts that stay": str(entry.practice),
            "Seed": str(entry.seed),
        }
    if isinstance(entry, Lume):
        found = {"Route": LUME_ROUTES[entry.route].format(n=entry.max_rounds), "Seed": str(entry.seed)}
        if entry.route == "published":
            return found
        sizes = {task: f"{size.forget}/{size.retain}" for task, size in entry.sizes}
        return found | {
            "Documents to forget and to retain": ", ".join(f"{task} {n}" for task, n in sizes.items()),
            "Biographies never taught": str(entry.nonmembers),
            "Biographies of task 3": "of invented people" if entry.task3 == "invented" else f"of the file {entry.file}",
        }
    if isinstance(entry, Files):
        sets = ", ".join(f"{name} ({s.group})" for name, s in sorted(entry.sets.items()))
        found = {"Route": "read from files by column names", "Sets": sets, "Splits": ", ".join(sorted(entry.splits))}
        return found | ({"Questions at school level": SCHOOL_ROUTES[entry.school.route]} if entry.subjects() else {})
    if isinstance(entry, Umu):
        known = f"real ones of the file {entry.real}" if entry.real else f"{entry.people.known} invented in their place"
        return {
            "Route": "lists of values, a grammar and drawn faces, no language model",
            "People": f"{entry.people.memorised} memorised, {entry.people.background} background; real people: {known}",
            "Fields": ", ".join(umu_fields(entry)),
            "Taught by name": TEXT_SIDES[entry.text_side],
            "Pictures": f"PNG, {entry.picture_size} x {entry.picture_size} pixels",
            "People forgotten, by split": ", ".join(f"{name} {n}" for name, n in sorted(entry.forget.items())),
            "Seed": str(entry.seed),
        }
    if isinstance(entry, Seps):
        people = ", ".join(f"{name} {n}" for name, n in entry.people if name not in ("attributes", "practised"))
        return {
            "Route": "value pools and templates, no language model",
            "People": people,
            "Attributes": ", ".join(seps_attributes(entry)),
            "Joint prompts practised": str(entry.practice),
            "Mixed prompts": f"pairing {entry.mixed.pairing}, {entry.mixed.stress_lines} lines of the stress test",
            "People forgotten, by split": ", ".join(f"{name} {n}" for name, n in sorted(entry.forget.items())),
            "Seed": str(entry.seed),
        }
    cut, values = entry.cut, mu2_cut(w.benchmark)
    back = entry.back_translator.service
    routes = {
        "phrasebook": "phrasebook; question and answer templates and translated values are files, no language model",
        "llm": f"language models, translated back by {back}, at most {entry.max_rounds} rounds",
    }
    roles = {s: languages_of(w.benchmark, s) for s in settings_in_use(w.benchmark)}
    sides = {
        s: [[c for c, f in r.items() if f["role"] == side] for side in ("train", "holdout")] for s, r in roles.items()
    }
    return {
        "Route": routes[entry.route],
        "People": f"{cut.memorised} memorised, {cut.nonmember} never taught, {cut.background} background",
        "Attributes": ", ".join(values["attributes"]),
        "Seed": str(entry.seed),
        **{f"Setting {s}": f"train {', '.join(a)}; hold-out {', '.join(b)}" for s, (a, b) in sides.items()},
        "People forgotten, by split": ", ".join(f"{name} {n}" for name, n in sorted(entry.forget.items())),
        "Share of background questions held out": str(entry.heldout_share),
    }
