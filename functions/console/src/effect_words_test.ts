import assert from "node:assert/strict";
import { test } from "node:test";
import { change, said } from "./effect_words";
import { moment } from "./ui/time";

const subject = "/v1/datasets/01JZ3V7Q0D8T5RZ0S6R1W9C4XK";
const label = (name: string): string | undefined => (name === "total" ? "“Runs in all”" : undefined);

test("members, choices and instants of effects have the words of the browser", () => {
  const at = "2026-12-01T00:00:00.000Z";
  const parts = [
    { type: "text" as const, value: "Allow fewer runs (" },
    { type: "member" as const, value: "/submissions/total" },
    { type: "text" as const, value: "), or show scores later (" },
    { type: "choice" as const, value: "afterClose" },
    { type: "text" as const, value: "), from " },
    { type: "instant" as const, value: at },
    { type: "text" as const, value: " on." },
  ];
  const detail = parts.map(p => p.value).join("");
  assert.equal(
    said({ kind: "advice", subject, detail, parts }, label),
    `Allow fewer runs (“Runs in all”), or show scores later (after close), from ${moment(at)} on.`,
  );
});

test("effects without a text say whom or what they concern, without paths", () => {
  assert.equal(said({ kind: "audience", subject, before: "everyone", after: "organizers" }), "Who sees the dataset");
  assert.equal(
    said({ kind: "audience", subject: "/v1/tasks/1/submissions/2", after: "owners" }),
    "Who sees the submission",
  );
  assert.deepEqual(change({ kind: "audience", subject, after: "organizers" }), {
    before: "nobody",
    after: "the organizers",
  });
  assert.equal(change({ kind: "news", subject }), undefined);
  assert.equal(said({ kind: "quota", subject: "storedBytes", count: 1500 }), "Stored files: 1.5 kB more");
  assert.equal(said({ kind: "quota", subject: "/v1/tasks/1", count: -1 }), "1 run of the team no longer counts");
  assert.equal(said({ kind: "quota", subject: "datasets", count: 1 }), "Counts in one of your limits (1)");
});
