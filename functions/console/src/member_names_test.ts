import assert from "node:assert/strict";
import { test } from "node:test";
import { inWords, memberOf, separate } from "./member_names";
import { moment } from "./ui/time";

const label = (name: string): string | undefined => (name === "perDay" ? "“Runs in 24 hours”" : undefined);

test("members are labels or words, and instants are local", () => {
  assert.equal(separate("maxRunsPerDay"), "max runs per day");
  const at = "2026-11-29T12:00:00.000Z";
  const detail = `closesAt must be after ${at}, and /submissions/perDay above 0.`;
  const parts = [
    { type: "member" as const, value: "closesAt" },
    { type: "text" as const, value: " must be after " },
    { type: "instant" as const, value: at },
    { type: "text" as const, value: ", and " },
    { type: "member" as const, value: "/submissions/perDay" },
    { type: "text" as const, value: " above 0." },
  ];
  assert.equal(
    inWords({ detail, parts }, label),
    `closes at must be after ${moment(at)}, and “Runs in 24 hours” above 0.`,
  );
});

test("plain text stays unchanged", () => {
  assert.equal(inWords({ detail: "nDCG is no measure; did you mean infAP or perDay?" }, label).includes("nDCG"), true);
  const size = { type: "size" as const, value: "1 byte", bytes: 1 };
  assert.equal(inWords({ detail: "1 byte", parts: [size] }, label), "1 byte");
});

test("a pointer names its last member", () => {
  assert.equal(memberOf("/submissions/perDay", label), "“Runs in 24 hours”: ");
  assert.equal(memberOf("/evaluator/measures/3", label), "measures: ");
  assert.equal(memberOf("", label), "");
});
