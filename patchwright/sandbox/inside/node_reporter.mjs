// Records how each test of `node --test` ends.
//
// Each line of the file is one JSON list: the verdict, the test's name and, where it did
// not pass, why. A suite is no test; a file that could not be loaded stands for itself.
import { appendFileSync } from "node:fs";
import { relative, sep } from "node:path";

const file = process.env.PATCHWRIGHT_NODE_REPORT;
const root = process.env.PATCHWRIGHT_TEST_ROOT ?? process.cwd();
const mostChars = 300;

const oneLine = (text) => text.split(/\s+/).join(" ").trim().slice(0, mostChars);

function cause(error) {
  const inner = error?.cause ?? error;
  if (typeof inner !== "object" || inner === null) return oneLine(String(inner ?? ""));
  const name = inner.name ?? inner.constructor?.name ?? "Error";
  return oneLine(`${name}: ${inner.message ?? ""}`);
}

// Node reports a file as a test where nothing in it has called its test functions.
const isFile = (data) =>
  data.nesting === 0 && data.file !== undefined && data.file.endsWith(data.name);

// What a file wrote on its way down says why nothing in it was run.
const thrown = (text) => text.match(/^(?:Uncaught )?\w*Error\b.*$/m)?.[0] ?? "";

export default async function* record(events) {
  const open = [];
  const written = new Map();
  for await (const { type, data } of events) {
    if (type === "test:stderr") {
      written.set(data.file, (written.get(data.file) ?? "") + data.message);
    } else if (type === "test:start") {
      open.length = data.nesting;
      open.push(data.name);
    } else if (type === "test:pass" || type === "test:fail") {
      if (data.details?.type === "suite") continue;
      const path = data.file ? relative(root, data.file).split(sep).join("/") : "";
      let verdict = type === "test:fail" ? "failed" : "passed";
      if (data.skip !== undefined || data.todo !== undefined) verdict = "skipped";
      let why = verdict === "failed" ? cause(data.details?.error) : "";
      let name = `${path}${path && "::"}${[...open.slice(0, data.nesting), data.name].join(" > ")}`;
      if (isFile(data)) {
        name = path;
        const error = thrown(written.get(data.file) ?? "");
        if (verdict === "failed") why = oneLine(error) || why;
        if (verdict === "failed" && !error.startsWith("AssertionError")) verdict = "unloaded";
      }
      appendFileSync(file, JSON.stringify([verdict, name, why]) + "\n");
    }
  }
  // Nothing is printed: that is for the other reporter.
  yield "";
}
