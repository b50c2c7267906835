import assert from "node:assert/strict";
import { test } from "node:test";
import { grantableAgain, grantsOf, refundable, whenShown } from "./exception_words";

const task = { submissions: { closesAt: "2026-03-01T00:00:00Z", total: 5 } };
const datasets = [
  { id: "a", name: "Ponds", submissions: { perDay: 3 } },
  { id: "b", name: "Waters", submissions: { closesAt: "2026-05-01T00:00:00Z" } },
];

test("every grant of an exception is told with its dataset", () => {
  assert.deepEqual(grantsOf({ closesAt: "2026-04-01T00:00:00Z", perDay: 1, datasetId: "a" }, task, datasets), [
    { said: "a later close of Ponds,", at: "2026-04-01T00:00:00Z" },
    { said: "1 run more in 24 hours on Ponds" },
  ]);
  assert.deepEqual(grantsOf({ total: 2, runId: "r" }, task, datasets, "First"), [
    { said: "2 runs more in all, over all datasets together" },
    { said: "the run First, which does not count in the quota" },
  ]);
});

test("runs beyond a limit that does not exist give nothing", () => {
  assert.deepEqual(grantsOf({ perDay: 1, total: 1, datasetId: "b" }, task, datasets), []);
  assert.deepEqual(grantsOf({ perDay: 1 }, task, datasets), []);
});

test("a close that is no later than the close of others gives nothing", () => {
  const closesAt = "2026-04-01T00:00:00Z";
  assert.deepEqual(grantsOf({ closesAt, datasetId: "b" }, task, datasets), []);
  assert.equal(grantsOf({ closesAt }, task, datasets).length, 1);
  assert.deepEqual(grantsOf({ closesAt }, { submissions: { closesAt } }, datasets), []);
  assert.deepEqual(grantsOf({ closesAt }, {}, datasets), []);
});

test("the close of a task without datasets counts", () => {
  const closesAt = "2026-04-01T00:00:00Z";
  assert.equal(grantsOf({ closesAt }, task, []).length, 1);
  assert.deepEqual(grantsOf({ closesAt }, {}, []), []);
});

test("a rejected team is shown its exceptions only once it is accepted", () => {
  for (const said of Object.values(whenShown("rejected"))) assert.match(said, / only once you accept the team\.$/);
  for (const state of ["accepted", "pending"] as const)
    for (const said of Object.values(whenShown(state))) assert.doesNotMatch(said, /once/);
});

test("an exception can be granted again as far as the team gets something by it", () => {
  const now = Date.parse("2026-03-15T00:00:00Z");
  const closesAt = "2026-04-01T00:00:00Z";
  const again = (e: object, ...others: object[]) => grantableAgain(e, others, task, datasets, now);
  assert.deepEqual(again({ closesAt, perDay: 1, datasetId: "a" }), { closesAt, perDay: 1, datasetId: "a" });
  assert.deepEqual(again({ perDay: 1, total: 1, runId: "r" }), { total: 1, runId: "r" });
  assert.equal(again({ perDay: 1 }), undefined);
  assert.equal(again({ closesAt, datasetId: "b" }), undefined);
  assert.equal(again({ perDay: 1, datasetId: "deleted" }), undefined);
  assert.equal(again({ closesAt: "2026-03-10T00:00:00Z", datasetId: "a" }), undefined); // is over
  assert.equal(again({ closesAt: "2026-03-10T00:00:00Z", total: 1, datasetId: "a" }), undefined);
  assert.equal(again({ closesAt }, { closesAt }), undefined);
  assert.equal(again({ closesAt }, { closesAt, datasetId: "a" }), undefined);
  assert.deepEqual(again({ closesAt, total: 1 }, { closesAt, datasetId: "a" }), { total: 1 });
  assert.deepEqual(again({ closesAt }, { closesAt, datasetId: "b" }, { perDay: 1 }), { closesAt });
});

test("an exception refunds a run that counts in the quota, and only once", () => {
  const runs = [
    { id: "1", state: "completed", datasetId: "a" },
    { id: "2", state: "queued", datasetId: "b" },
    { id: "3", state: "failed", datasetId: "a" },
    { id: "4", state: "cancelled", datasetId: "a" },
  ] as const;
  const ids = (exceptions: object[], datasetId?: string) => refundable([...runs], exceptions, datasetId).map(r => r.id);
  assert.deepEqual(ids([{ perDay: 1 }]), ["1", "2"]);
  assert.deepEqual(ids([], "a"), ["1"]);
  assert.deepEqual(ids([{ runId: "1" }]), ["2"]);
});
