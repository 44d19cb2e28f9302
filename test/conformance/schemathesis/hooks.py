"""What no schema can say of a valid request, said here, so that every check stays on."""

import itertools
import os
import re

import schemathesis
from schemathesis.generation.meta import TestPhase

# Refused at any depth, as they could change an object's prototype.
FORBIDDEN_KEYS = {"__proto__", "constructor", "prototype"}

# Operations on an agent of one's own: the parameter that names it, and which one it is.
OWN = {
    "PUT /api/agents/{agent}": ("agent", "mail"),
    "POST /api/agents/{agent}/go-live": ("agent", "plan"),
    "POST /api/agents/{agent}/unpublish": ("agent", "plan"),
}

numbers = itertools.count()


@schemathesis.hook
def filter_failure(context, failure, case, response):
    # The versions and the audit log of a deleted agent stay visible to its last owner (docs/versions.md).
    is_history = case.operation.path.endswith(("/versions", "/audit"))
    return not (is_history and type(failure).__name__ == "UseAfterFree")


@schemathesis.hook
def before_call(context, case, kwargs):
    # What is longer than all headers may be, Node refuses before any of this.
    if isinstance(case.query, dict) and isinstance(case.query.get("cursor"), str):
        case.query["cursor"] = re.sub(r"[^ -~]", "-", case.query["cursor"])[:2500]
    # Refused before anything else, so that no other refusal would be seen.
    if isinstance(case.body, dict):
        case.body = without_forbidden_keys(case.body)
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    # A key is for one call: with it, another would have the answer of the first.
    if "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = f"key-{next(numbers)}"
    if isinstance(case.body, dict):
        # What is said of agents hides no characters and mixes no scripts.
        if case.path.startswith("/api/agents/") and case.path != "/api/agents/search":
            case.body = plain(case.body)
    for fields in fields_of(case):
        # A cursor is good only with the query that it was given for; one that was made up is refused.
        fields.pop("cursor", None)
        # A CSS selector has a grammar.
        if isinstance(fields.get("selector"), str):
            fields["selector"] = "article p, [title]"
        # Agents in STAGE are shown to their owner, who says so.
        if fields.get("state") == "STAGE":
            fields["mine"] = "true" if fields is case.query else True
        # A revision is one that has been.
        if fields.get("since") is not None:
            fields["since"] = "1" if fields is case.query else 1
        # A webhook's address is a place that may be called.
        if "/webhooks" in case.path and isinstance(fields.get("url"), str):
            fields["url"] = "https://example.com/hook"
        # A receiver has an issuer whose tokens are taken here.
        if case.path.endswith("/transfer"):
            fields.pop("issuer", None)
        # No two capabilities are called the same.
        if isinstance(fields.get("capabilities"), list):
            fields["capabilities"] = list({called(each): each for each in fields["capabilities"]}.values())
    # In a query a comma begins the next tag.
    if isinstance(case.query, dict) and isinstance(case.query.get("tags"), list):
        case.query["tags"] = [tag.replace(",", "") for tag in case.query["tags"]]
    if case.meta.phase.name != TestPhase.COVERAGE:
        make_real(case)


def without_forbidden_keys(value):
    if isinstance(value, dict):
        return {key: without_forbidden_keys(inner) for key, inner in value.items() if key not in FORBIDDEN_KEYS}
    if isinstance(value, list):
        return [without_forbidden_keys(inner) for inner in value]
    return value


def plain(value):
    if isinstance(value, str):
        return re.sub(r"[^\t\n\r -~]", "-", value)
    if isinstance(value, dict):
        return {plain(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value


def fields_of(case):
    """The query and each object in the body where such fields stand."""
    body = case.body if isinstance(case.body, dict) else {}
    for fields in (case.query, body, body.get("input"), body.get("filters")):
        if isinstance(fields, dict):
            yield fields


def called(capability):
    return capability.get("id") or capability.get("name") if isinstance(capability, dict) else str(capability)


def make_real(case):
    """Names that are there, so that more is seen than how made-up ones are refused."""
    label = case.operation.label
    # An ETag comes from an answer, or the condition fails.
    if not case.headers.get("If-Match", '"').startswith('"'):
        del case.headers["If-Match"]
    if label in OWN and case.auth_identity and case.meta.phase.name == TestPhase.FUZZING:
        parameter, name = OWN[label]
        case.path_parameters[parameter] = f"com.{case.auth_identity}.{name}"
    if not isinstance(case.body, dict):
        return
    if label == "POST /a2a/utility/reader":
        case.body["input"]["url"] = os.environ["CONFORMANCE_PAGE"]
    if label == "POST /api/playground/session/{session}/execute":
        case.body.update(agent="svc.registry", capability="search", input={"query": "read a web page"})
    if label == "POST /api/agents/publish":
        case.body["package_name"] = f"com.made.agent-{next(numbers)}"
    if label == "PUT /api/agents/{agent}":
        case.body.pop("package_name", None)
