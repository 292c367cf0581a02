"""A worker that is killed at random: claims under a short lease, works for a moment, completes, and
writes down each completion that was accepted, as TODO SEQ. Ends when told to by a file."""

import http.client
import json
import os
import random
import sys
import time

address, key, log, stop, seed = sys.argv[1:6]
random.seed(int(seed))
connection = None


def call(path, body):
    """One request; None when the server cannot be reached, which a kill of it explains."""
    global connection
    try:
        if connection is None:
            connection = http.client.HTTPConnection(address, timeout=20)
        headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError):
        connection = None
        time.sleep(0.05)
        return None


with open(log, "a") as accepted:
    while not os.path.exists(stop):
        claimed = call(
            "/v1/todos/claim-next",
            {"queue": "kills", "lease_ttl_seconds": 2, "require_fence": True, "wait_seconds": 1},
        )
        if claimed is None or claimed[0] != 200 or claimed[1]["empty"]:
            continue
        todo, token = claimed[1]["todo"]["id"], claimed[1]["lease_token"]
        time.sleep(random.choice([0, 0.01, 0.05, 0.3, 2.5]) if random.random() < 0.5 else 0)
        words = {"lease_token": token, "summary": "done"}
        for _ in range(100):
            # Whoever does not hear the answer says it again.
            done = call(f"/v1/todos/{todo}/complete", words)
            if done is not None:
                break
        if done is not None and done[0] == 200:
            accepted.write(f"{todo} {claimed[1]['attempt_seq']}\n")
            accepted.flush()
