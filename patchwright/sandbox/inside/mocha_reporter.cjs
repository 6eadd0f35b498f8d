// Records how each test of mocha ends, and prints as its own reporter does.
//
// Each line of the file is one JSON list: the verdict, the test's name and, where it did
// not pass, why.
"use strict";
const { appendFileSync } = require("node:fs");
const { relative, sep } = require("node:path");

const file = process.env.PATCHWRIGHT_MOCHA_REPORT;
const root = process.env.PATCHWRIGHT_TEST_ROOT || process.cwd();
const mostChars = 300;

function cause(error) {
  const name = (error && (error.name || (error.constructor || {}).name)) || "Error";
  const text = `${name}: ${(error && error.message) || error}`;
  return text.split(/\s+/).join(" ").trim().slice(0, mostChars);
}

function nameOf(test) {
  const path = test.file ? relative(root, test.file).split(sep).join("/") : "";
  return `${path}${path && "::"}${test.fullTitle()}`;
}

module.exports = function Recorder(runner, options) {
  const note = (verdict, test, why) =>
    appendFileSync(file, JSON.stringify([verdict, nameOf(test), why || ""]) + "\n");
  runner.on("pass", (test) => note("passed", test));
  runner.on("pending", (test) => note("skipped", test));
  // A hook that fails has no test of its own: those behind it were not run.
  runner.on("fail", (test, error) =>
    note(test.type === "hook" ? "broken" : "failed", test, cause(error)),
  );
  const mocha = require(require.resolve("mocha", { paths: [process.cwd(), root] }));
  new mocha.reporters.Spec(runner, options);
};
