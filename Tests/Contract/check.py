"""Holds messages against the schemas of config/contract.

Standard input has one JSON object a line: {"schema": "result", "about": "…", "instance": {…}}. What breaks a schema, or has a
field that it lacks, is written as one line each; the exit status is 1 then.
"""
import json, os, sys

import jsonschema, referencing

DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../config/contract")
SCHEMAS = {name.removesuffix(".schema.json"): json.load(open(os.path.join(DIRECTORY, name)))
           for name in os.listdir(DIRECTORY) if name.endswith(".schema.json")}
REGISTRY = referencing.Registry().with_contents((schema["$id"], schema) for schema in SCHEMAS.values())
# What RabbitMQ adds to a message by itself.
BROKERS = ("x-delivery-count", "x-acquired-count", "x-death", "x-first-death-", "x-last-death-")


def names(schema):
    return set(SCHEMAS[schema]["properties"])


def unknown(schema, instance):
    """The fields of an instance that no schema knows. Jobs may have any; dead letters keep those of their jobs."""
    if schema == "result":
        return set(instance) - names("result")
    if schema == "result-batch":
        entries = SCHEMAS[schema]["properties"]["results"]["items"]["properties"]
        return (set(instance) - names(schema)).union(*(set(entry) - set(entries) for entry in instance.get("results", [])))
    if schema == "result-headers":
        return {name for name in set(instance) - names("result-headers") if not name.startswith(BROKERS)}
    if schema == "dead-letter-headers":
        known = names("dead-letter-headers") | names("raw-job-headers")
        return {name for name in set(instance) - known if name.startswith("x-apns-")}
    return set()


def main():
    validators = {}
    for name, schema in SCHEMAS.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        validators[name] = jsonschema.Draft202012Validator(
            schema, registry=REGISTRY, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
    failed = False
    for line in sys.stdin:
        case = json.loads(line)
        schema, instance = case["schema"], case["instance"]
        problems = [f"{'/'.join(map(str, error.path)) or 'as a whole'}: {error.message}"
                    for error in validators[schema].iter_errors(instance)]
        problems += [f"{name}: the schema lacks it" for name in sorted(unknown(schema, instance))]
        for problem in problems:
            failed = True
            print(f"{schema}, {case['about']}: {problem[:400]}")
    sys.exit(1 if failed else 0)


main()
