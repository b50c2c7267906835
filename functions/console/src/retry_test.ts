import assert from "node:assert/strict";
import { test } from "node:test";
import { canPass, secondsBeforeRetry } from "./retry";

const answer = (status: number, after?: string): Response =>
  new Response(null, { status, headers: after === undefined ? {} : { "Retry-After": after } });

test("waits double up to 20 seconds, and end with the sixth attempt", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map(attempt => secondsBeforeRetry(undefined, attempt)),
    [2, 4, 8, 16, 20, undefined],
  );
  assert.equal(secondsBeforeRetry(answer(502), 1), 2);
  assert.equal(secondsBeforeRetry(answer(504), 3), 8);
});

test("a busy server says how long to wait", () => {
  assert.equal(secondsBeforeRetry(answer(503), 2), 4);
  assert.equal(secondsBeforeRetry(answer(503, "7"), 2), 7);
  assert.equal(secondsBeforeRetry(answer(429, "0"), 1), 1);
  assert.equal(secondsBeforeRetry(answer(429, "30"), 1), 30);
  assert.equal(secondsBeforeRetry(answer(429, "31"), 1), undefined);
});

test("other answers are final", () => {
  for (const status of [200, 204, 400, 401, 404, 409, 412, 500]) {
    assert.equal(secondsBeforeRetry(answer(status, "1"), 1), undefined, String(status));
  }
});

test("a failure can pass unless the server refuses the request", () => {
  for (const status of [undefined, 429, 500, 502, 503]) assert.equal(canPass(status), true, String(status));
  for (const status of [400, 403, 404, 410, 422]) assert.equal(canPass(status), false, String(status));
});
