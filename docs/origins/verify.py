"""Verifies a pass with nothing but the standard library: python3 verify.py PASS KEY ROOM [NOW]"""
import base64, hashlib, hmac, json, sys, time


def verify(token, key, room, now=None, skew=30):
    """The claims of a good pass, else ValueError."""
    unpack = lambda part: base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    try:
        header, claims, signature = token.split(".")
        said, given = json.loads(unpack(header)), unpack(signature)
    except ValueError as problem:
        raise ValueError("not a pass") from problem
    if said.get("alg") != "HS256" or said.get("typ") != "anteroom-pass":
        raise ValueError("not a pass")
    expected = hmac.digest(key.encode(), f"{header}.{claims}".encode(), hashlib.sha256)
    if not hmac.compare_digest(expected, given):
        raise ValueError("not signed by this key")
    claimed = json.loads(unpack(claims))
    if claimed["event_id"] != room:
        raise ValueError("for another room")
    if claimed["exp"] + skew <= (time.time() if now is None else now):
        raise ValueError("expired")
    return claimed


if __name__ == "__main__":
    try:
        print(json.dumps(verify(*sys.argv[1:4], now=float(sys.argv[4]) if len(sys.argv) > 4 else None)))
    except ValueError as problem:
        sys.exit(str(problem))
