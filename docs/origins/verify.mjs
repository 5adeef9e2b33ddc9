// Verifies a pass with nothing but Node's own modules: node verify.mjs PASS KEY ROOM [NOW]
import { createHmac, timingSafeEqual } from "node:crypto";
import { fileURLToPath } from "node:url";

/** The claims of a good pass; throws otherwise. */
export function verify(token, key, room, now = Date.now() / 1000, skew = 30) {
  const [header, claims, signature, more] = token.split(".");
  if (!signature || more !== undefined) throw new Error("not a pass");
  const unpack = (part) => JSON.parse(Buffer.from(part, "base64url"));
  const said = unpack(header);
  if (said.alg !== "HS256" || said.typ !== "anteroom-pass") throw new Error("not a pass");
  const expected = createHmac("sha256", key).update(`${header}.${claims}`).digest();
  const given = Buffer.from(signature, "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new Error("not signed by this key");
  const claimed = unpack(claims);
  if (claimed.event_id !== room) throw new Error("for another room");
  if (claimed.exp + skew <= now) throw new Error("expired");
  return claimed;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [token, key, room, now] = process.argv.slice(2);
  try {
    console.log(JSON.stringify(verify(token, key, room, now === undefined ? undefined : Number(now))));
  } catch (problem) {
    console.error(problem.message);
    process.exit(1);
  }
}
