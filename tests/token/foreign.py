"""Signs and verifies with PyJWT for foreign.rs: a list of jobs on stdin, a list of results on stdout."""

import json
import sys

import jwt


def do(job):
    if job["do"] == "sign":
        header = dict(job["header"])
        algorithm = header.pop("alg")
        key = None if algorithm == "none" else job["key"]
        return {"token": jwt.encode(job["claims"], key, algorithm=algorithm, headers=header)}
    try:
        token = jwt.decode_complete(job["token"], job["key"], algorithms=["HS256"])
        return {"header": token["header"], "claims": token["payload"]}
    except jwt.ExpiredSignatureError:
        return {"refused": "expired"}
    except jwt.InvalidSignatureError:
        return {"refused": "signature"}


json.dump([do(job) for job in json.load(sys.stdin)], sys.stdout)
