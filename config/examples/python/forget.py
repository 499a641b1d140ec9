#!/usr/bin/env python3
"""Deletes dead device tokens from a database, as the lines of martlet dead tokens --export -o json tell them.

usage: forget.py <SQLite database> < dead.jsonl
"""
import json
import sqlite3
import sys

# A token that the app registered later is alive, and so is one of another topic or environment.
FORGET = """DELETE FROM device_tokens WHERE token = :device_token AND topic = :topic AND environment = :environment
            AND registered_at <= :dead_since"""

if len(sys.argv) != 2:
    sys.exit(__doc__)
deleted = held = 0
database = sqlite3.connect(sys.argv[1])
with database:  # one transaction: all of it, or nothing after an error
    for line in sys.stdin:
        dead = json.loads(line)
        if dead["action"] == "drop_token":
            deleted += database.execute(FORGET, dead).rowcount
        else:
            held += 1  # hold: it may be alive
database.close()
print(f"{deleted} deleted, {held} on hold")
