// How servers written in JavaScript read paths: a list of paths on standard input, and for each what they come to.
import { posix } from "node:path";

const tries = [
  (path) => path,
  (path) => new URL(path, "http://shop.example").pathname,
  (path) => new URL("http://shop.example" + path).pathname,
  (path) => posix.normalize(path),
  (path) => path.replace(/\/{2,}/g, "/"),
  (path) => path.replace(/;[^/]*/g, ""),
  decodeURIComponent,
];

// Alone, one after the other, and a third behind them.
function readings(path) {
  let known = new Set([path]);
  for (let round = 0; round < 3; round += 1) {
    for (const one of [...known]) {
      for (const read of tries) {
        try {
          known.add(read(one));
        } catch {
          // Refused: nothing is served.
        }
      }
    }
  }
  return [...known];
}

let text = "";
for await (const part of process.stdin) text += part;
console.log(JSON.stringify(JSON.parse(text).map(readings)));
