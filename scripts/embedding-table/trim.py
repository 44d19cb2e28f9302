"""Drops the rows of words that the lists of words translate where their letters are of one language, Russian, Korean or
the kana of Japanese: search reads those by their English.

Usage: python trim.py LANGUAGES

LANGUAGES: a folder as languages.py writes it, with the lists in `words`; it is changed in place, and its manifest with
it. Words in Latin letters keep their rows, whose odds tell the language of a text; so do words in Han, which two languages
have.
"""

import hashlib
import json
import re
import sys
import unicodedata
from pathlib import Path

ONE_LANGUAGE = re.compile(r"[\u0430-\u045f]+|[\uac00-\ud7a3]+|[\u3040-\u30ff]+")
KEEPS_MARKS = re.compile(r"[\uac00-\ud7a3\u3040-\u30ff]")
BYTES = {"rows.bin": 256, "scales.bin": 4, "facts.bin": 5}


def normal_form(text):
    """As `normalForm` of src/search/embedders/static/languages.ts has it for these letters."""
    lower = unicodedata.normalize("NFKC", text).lower()
    return "".join(character if KEEPS_MARKS.match(character) else unmarked(character) for character in lower)


def unmarked(character):
    parts = unicodedata.normalize("NFD", character)
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")


def listed(folder):
    words = set()
    for language in ("ja", "ko", "ru"):
        for line in (folder / "words" / f"{language}.txt").read_text().splitlines():
            _, _, forms = normal_form(line.split("#")[0]).partition("=")
            words.update(form.strip() for form in forms.split(","))
    return words


def main():
    folder = Path(sys.argv[1])
    manifest = json.loads((folder / "manifest.json").read_text())
    words = listed(folder)
    pieces = (folder / "vocabulary.txt").read_text().removesuffix("\n").split("\n")
    kept = [at for at, piece in enumerate(pieces) if piece not in words or not ONE_LANGUAGE.fullmatch(piece)]
    contents = {"vocabulary.txt": "".join(f"{pieces[at]}\n" for at in kept).encode()}
    for name, size in BYTES.items():
        content = (folder / name).read_bytes()
        assert len(content) == size * len(pieces), f"{name} has {len(content)} bytes for {len(pieces)} pieces"
        contents[name] = b"".join(content[at * size : (at + 1) * size] for at in kept)
    manifest["pieces"] = len(kept)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        manifest["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    print(f"{len(pieces) - len(kept)} of {len(pieces)} rows dropped")


main()
