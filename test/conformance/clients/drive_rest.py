"""Calls every operation of a client that openapi-python-client has generated: drive_rest.py FOLDER < plan.json

The plan has the base URL, the token, the ids and the bodies. One line of JSON is printed for each operation.
"""

import importlib
import inspect
import json
import pkgutil
import sys
import typing

sys.path.insert(0, sys.argv[1])
plan = json.load(sys.stdin)
package = importlib.import_module("dragoman_client")
api = importlib.import_module("dragoman_client.api")
client = package.AuthenticatedClient(base_url=plan["url"], token=plan["token"])


def operations():
    for tag in pkgutil.iter_modules(api.__path__):
        folder = importlib.import_module(f"{api.__name__}.{tag.name}")
        for operation in pkgutil.iter_modules(folder.__path__):
            yield operation.name, importlib.import_module(f"{folder.__name__}.{operation.name}")


def body_for(annotation, value):
    for candidate in typing.get_args(annotation) or (annotation,):
        if not hasattr(candidate, "from_dict"):
            continue
        try:
            return candidate.from_dict(value)
        except (KeyError, TypeError, ValueError):
            continue  # another form of the body
    return value


def arguments(name, function):
    planned = plan["operations"].get(name, {})
    hints = typing.get_type_hints(function)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "client":
            yield "client", client
        elif parameter.name == "body":
            if "body" in planned:
                yield "body", body_for(hints["body"], planned["body"])
        elif parameter.name in plan["ids"] and parameter.default is inspect.Parameter.empty:
            yield parameter.name, planned.get("ids", plan["ids"])[parameter.name]
        elif parameter.default is inspect.Parameter.empty:
            yield parameter.name, planned["query"][parameter.name]


found = dict(operations())
for name in sorted(found, key=lambda name: plan["order"].index(name)):
    function = found[name].sync_detailed
    try:
        answer = function(**dict(arguments(name, function)))
        report = {"status": int(answer.status_code), "type": type(answer.parsed).__name__}
    except Exception as fault:  # reported, so that the test shows every operation that fails
        report = {"fault": f"{type(fault).__name__}: {fault}"}
    print(json.dumps({"operation": name, **report}))
