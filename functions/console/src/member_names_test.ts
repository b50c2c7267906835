import assert from "node:assert/strict";
import { test } from "node:test";
import { inWords, memberOf, separate } from "./member_names";

const label = (name: string): string | undefined => (name === "perDay" ? "“Runs in 24 hours”" : undefined);

test("names of members are labels, or words", () => {
  assert.equal(separate("maxRunsPerDay"), "max runs per day");
  assert.equal(
    inWords("`closesAt` must be after opensAt, and perDay above 0.", label),
    "closes at must be after opens at, and “Runs in 24 hours” above 0.",
  );
});

test("quoted text stays unchanged", () => {
  assert.equal(
    inWords('"perDay `x` camelCase" has a camelCase name', label),
    '"perDay `x` camelCase" has a camel case name',
  );
});

test("a pointer names its last member", () => {
  assert.equal(memberOf("/submissions/perDay", label), "“Runs in 24 hours”: ");
  assert.equal(memberOf("/evaluator/measures/3", label), "measures: ");
  assert.equal(memberOf("", label), "");
});
