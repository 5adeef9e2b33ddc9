// Signs and verifies with jose for foreign.rs: a list of jobs on stdin, a list of results on stdout.
// The first argument is the folder with node_modules.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const jose = createRequire(`${process.argv[2]}/`)("jose");

async function run(job) {
  const key = new TextEncoder().encode(job.key);
  if (job.do === "sign") {
    if (job.header.alg === "none") return { token: new jose.UnsecuredJWT(job.claims).encode() };
    return { token: await new jose.SignJWT(job.claims).setProtectedHeader(job.header).sign(key) };
  }
  try {
    const { protectedHeader, payload } = await jose.jwtVerify(job.token, key, { algorithms: ["HS256"] });
    return { header: protectedHeader, claims: payload };
  } catch (error) {
    if (error.code === "ERR_JWT_EXPIRED") return { refused: "expired" };
    if (error.code === "ERR_JWS_SIGNATURE_VERIFICATION_FAILED") return { refused: "signature" };
    throw error;
  }
}

const jobs = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(await Promise.all(jobs.map(run))));
