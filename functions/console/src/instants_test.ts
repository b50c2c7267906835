import assert from "node:assert/strict";
import { test } from "node:test";
import { nextOf, quotaInstants, windowsOf } from "./instants";

const at = (second: number): string => `2026-05-01T12:00:0${second}Z`;
const now = Date.parse(at(5));

test("a screen changes at the first instant that has not passed", () => {
  assert.equal(nextOf([], now), undefined);
  assert.equal(nextOf([undefined, at(4), at(5)], now), undefined);
  assert.equal(nextOf([at(9), undefined, at(7), at(4)], now), Date.parse(at(7)));
});

test("windows and quotas name the instants of a task", () => {
  const task = {
    submissions: { opensAt: at(1), closesAt: at(2) },
    registration: { mode: "open" as const, closesAt: at(3) },
  };
  assert.deepEqual(windowsOf([task]).filter(Boolean), [at(1), at(2), at(3)]);
  const quota = { datasetId: "d", startsBlinded: false, types: [], open: true, closesAt: at(6), nextAt: at(7) };
  assert.deepEqual(quotaInstants({ datasets: [quota] }).filter(Boolean), [at(6), at(7)]);
  assert.deepEqual(quotaInstants(undefined), []);
});
