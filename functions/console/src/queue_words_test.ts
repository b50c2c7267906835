import assert from "node:assert/strict";
import { test } from "node:test";
import { waitsFor } from "./queue_words";

const file = { name: "run.txt" };
const waits = (files: object[], kind = "retrieval", truthVersion = 1, state = "queued", userId?: string): string =>
  waitsFor({ state, files, userId } as never, { evaluator: { kind }, truthVersion } as never);

test("a queued run says what it waits for", () => {
  assert.equal(waits([], "retrieval", 1, "queued", "user"), "waits for a worker that executes it");
  assert.equal(waits([]), ""); // of an anonymous team, whose files are not shown
  assert.equal(waits([file], "worker"), "waits for a worker that evaluates it");
  assert.equal(waits([file]), "waits for its turn to be evaluated");
  assert.equal(waits([file], "retrieval", 0), "waits until the organizers have stored the ground truth");
  assert.equal(waits([], "retrieval", 1, "running"), "");
});
