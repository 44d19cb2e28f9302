"""Texts that describe one agent, tool, service, operation or program each, for which requests.tsv has requests.

requests.tsv names a document by the first 12 hex digits of the SHA-256 of its text, and has three requests for it: a need
of everyday life, what a person tells an assistant, and what one types into a search box. A language model wrote them
from the documents alone: it saw no retrieval set and no request of bench/eval.
"""

import hashlib
import re
from pathlib import Path

from gather import clean, command_pages, connectors, public_services
from pairs import cards, is_english, lines, title, words

LONGEST, SHORTEST, MAX_TOOLS = 260, 25, 12


def key(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def described(lists, sources):
    """Names and descriptions."""
    for server in lines(lists / "mcp-servers.jsonl"):
        name = server["name"]
        yield title(name) if "/" in name else name, server.get("description")
        for tool in (server.get("tools") or [])[:MAX_TOOLS]:
            yield words(tool["name"]), tool.get("description")
    newest = {}
    for document in lines(lists / "official.jsonl"):
        newest[document["server"]["name"]] = document["server"]
    for name, server in newest.items():
        yield server.get("title") or title(name), server.get("description")
    yield from ((name, description) for kind, name, description in cards(lists) if kind == "tool")
    for text in (*public_services(sources), *connectors(sources)):
        name, _, description = text.partition(": ")
        yield name, description
    for page in command_pages(sources):
        about = " ".join(re.findall(r"^> (.*)$", page, re.M)).split("More information")[0]
        yield re.search(r"^# (.*)$", page, re.M)[1], about


def documents(lists, sources):
    """The texts by their keys."""
    found = {}
    for name, description in described(lists, sources):
        name, description = clean(name or ""), clean(description or "")[:LONGEST]
        if name and len(description) >= SHORTEST and is_english(description):
            text = f"{name}: {description}"
            found[key(text)] = text
    return found


def requests(lists, sources):
    """Each document with each of its requests."""
    texts = documents(lists, sources)
    for line in Path(__file__).with_name("requests.tsv").read_text().splitlines():
        at, *written = line.split("\t")
        yield from ((texts[at], request) for request in written)
