"""Pairs of texts that mean the same agent or the same request, without labels of any retrieval set.

    pairs.py LISTS SOURCES OUT

LISTS holds mcp-servers.jsonl, official.jsonl, a2a-cards.jsonl and a2a-cards-more.jsonl; SOURCES is that of gather.py.
OUT is JSON: a list of [kind, text, text].
"""

import json
import random
import re
import sys
from collections import Counter
from pathlib import Path

from gather import Clone, clean, command_pages, connectors, public_services

MAX_TOOLS = 30
JOINTS = re.compile(r"[\s_\-./]+|(?<=[a-z0-9])(?=[A-Z])")
OF_THE_COMMAND = re.compile(r"More information|See also|Note|Some sub|This command is an alias")
OF_ITS_HELP = re.compile(r"help|version|documentation for|View ")


def words(identifier):
    return " ".join(JOINTS.split(identifier)).strip()


def title(name):
    """The name of a package without its scope, in words."""
    return words(re.sub(r"^@?[^/]*/", "", name))


def is_english(text):
    return sum(character.isascii() for character in text or "") >= 0.9 * len(text or "x")


def lines(path):
    return (json.loads(line) for line in path.read_text().splitlines())


def servers(lists):
    for server in lines(lists / "mcp-servers.jsonl"):
        description = server.get("description") or ""
        if not is_english(description):
            continue
        yield "server", title(server["name"]), description
        tools = [tool for tool in server.get("tools") or [] if is_english(tool.get("description"))]
        for tool in tools[:MAX_TOOLS]:
            yield "tool", words(tool["name"]), tool.get("description")
            if len(tools) <= MAX_TOOLS:
                whole = f"{title(server['name'])}: {description}"
                yield "part", f"{words(tool['name'])}: {tool.get('description')}", whole
    newest = {}
    for document in lines(lists / "official.jsonl"):
        newest.setdefault(document["server"]["name"], document["server"])
    for name, server in newest.items():
        yield "server", server.get("title") or title(name), server.get("description")


def cards(lists):
    for name in ("a2a-cards.jsonl", "a2a-cards-more.jsonl"):
        for line in lines(lists / name):
            card = line.get("card", line)
            for skill in card.get("skills") or []:
                if not isinstance(skill, dict):
                    continue
                whole = f"{skill.get('name')}: {skill.get('description')}"
                yield "tool", skill.get("name"), skill.get("description")
                for example in skill.get("examples") or []:
                    if isinstance(example, str):
                        yield "example", example, whole
                yield "part", whole, f"{card.get('name')}: {card.get('description')}"


def operations(sources):
    for kind, texts in (("operation", connectors(sources)), ("service", public_services(sources))):
        for text in texts:
            name, _, description = text.partition(": ")
            yield kind, name, description


def commands(sources):
    """Programs of the command line: what they are, and what they are used for."""
    for page in command_pages(sources):
        name = re.search(r"^# (.*)$", page, re.M)[1].replace("-", " ")
        about = [line for line in re.findall(r"^> (.*)$", page, re.M) if not OF_THE_COMMAND.match(line)]
        description = " ".join(about).replace("`", "")
        yield "command", name, description
        for use in re.findall(r"^- (.*)$", page, re.M):
            text = re.sub(r"[\[\]`]", "", use).rstrip(":")
            if not OF_ITS_HELP.search(text):
                yield "use", text, f"{name}: {description}"


def requests(sources):
    """Requests of one intent, and the name of the intent."""
    chance = random.Random(5)
    by_intent = {}
    for rows in json.loads(Clone(sources, "clinc+oos-eval").read("data/data_full.json")).values():
        for text, intent in rows:
            if intent != "oos":
                by_intent.setdefault(intent, []).append(text)
    for intent, texts in by_intent.items():
        for text in texts:
            yield f"intent:{intent}", text, chance.choice(texts) if chance.random() < 0.5 else words(intent)


def pairs(lists, sources):
    found = {}
    for source, origin in ((servers, lists), (cards, lists), (operations, sources), (commands, sources),
                           (requests, sources)):  # fmt: skip
        for kind, left, right in source(origin):
            left, right = clean(left or ""), clean(right or "")
            if len(left) >= 3 and len(right) >= 8 and left.lower() != right.lower():
                found.setdefault((left, right), kind)
    return [(kind, left, right) for (left, right), kind in found.items()]


if __name__ == "__main__":
    lists, sources, out = map(Path, sys.argv[1:4])
    found = pairs(lists, sources)
    print(Counter(kind.split(":")[0] for kind, _, _ in found), file=sys.stderr)
    out.write_text(json.dumps(found))
