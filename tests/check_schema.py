#!/usr/bin/env python3
"""check_schema.py SCHEMA DOCUMENT...: validates JSON documents, keys that stand twice and NaN being errors too."""
import json
import sys

import jsonschema


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError("a key stands twice: " + ", ".join(sorted(k for k in keys if keys.count(k) > 1)))
    return dict(pairs)


def no_constant(name):
    raise ValueError(name + " is no JSON")


def main():
    schema = json.load(open(sys.argv[1]))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    wrong = 0
    for path in sys.argv[2:]:
        document = json.load(open(path), object_pairs_hook=unique, parse_constant=no_constant)
        for error in validator.iter_errors(document):
            wrong += 1
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
    return 1 if wrong else 0


sys.exit(main())
