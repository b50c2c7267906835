import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rule } from "./column_rules";
import {
  allOver,
  baselineNote,
  hasClosed,
  isOver,
  leftOf,
  limitsOf,
  nextRun,
  onlyTerms,
  scoresNote,
  sharedOf,
  takes,
  togetherOf,
  windowOf,
} from "./quota_words";

const quota = { datasetId: "d", startsBlinded: false, types: [], open: true };
const at = "2026-12-01T00:00:00.000Z";

test("what is left is the number that binds, with the instant of the next run", () => {
  assert.deepEqual(leftOf({}), { said: "no limit", next: undefined });
  assert.deepEqual(leftOf({ left: 2, nextAt: at }), { said: "2 runs left", next: at });
  assert.deepEqual(leftOf({ left: 0, nextAt: at }), { said: "no run is left", next: at });
  assert.equal(limitsOf({ perDay: 3, total: 50 }), "3 in 24 hours, 50 in all");
  assert.equal(limitsOf({}), "");
});

test("datasets that share a limit do not each promise all of it", () => {
  const of = (left: number | undefined, open = true) => ({ ...quota, left, open });
  const shared = sharedOf({ left: 5, perDay: 5, datasets: [of(5), of(2)] });
  assert.equal(shared, 5);
  assert.equal(leftOf(of(5), shared).said, "up to 5 of the 5 runs left for all datasets together");
  assert.equal(leftOf({ left: 1 }, 1).said, "1 run left for all datasets together");
  assert.equal(leftOf(of(2), shared).said, "up to 2 of the 5 runs left for all datasets together");
  assert.equal(leftOf(of(0), shared).said, "no run is left");
  assert.equal(sharedOf({ left: 5, perDay: 5, datasets: [of(3), of(2)] }), undefined);
  assert.equal(sharedOf({ left: 5, perDay: 5, datasets: [of(5), of(5, false)] }), undefined);
  assert.equal(sharedOf({ datasets: [of(2), of(2)] }), undefined);
});

test("a dataset says whether and until when it takes runs", () => {
  assert.deepEqual(windowOf(quota, "accepted"), { said: "takes runs", at: undefined });
  assert.deepEqual(windowOf({ ...quota, closesAt: at }, "accepted"), { said: "takes runs until", at });
  assert.deepEqual(windowOf({ ...quota, open: false, closedReason: "late", closesAt: at }, "accepted"), {
    said: "closed",
    at,
  });
  assert.deepEqual(windowOf({ ...quota, open: false, closedReason: "early", opensAt: at }, "accepted"), {
    said: "opens",
    at,
  });
  assert.equal(windowOf({ ...quota, open: false, closedReason: "truth", closesAt: at }, "accepted").at, undefined);
  assert.match(
    windowOf({ ...quota, open: false, closedReason: "terms", closesAt: at }, "accepted").said,
    /until .* accepted the terms/,
  );
  assert.equal(
    windowOf({ ...quota, open: false, closedReason: "terms", left: 0 }, "accepted").said,
    "takes no more runs: no run is left",
  );
  assert.equal(
    windowOf({ ...quota, open: false, closedReason: "always", opensAt: at, closesAt: at }, "accepted").at,
    undefined,
  );
});

test("a team that is not accepted is told of the window of a dataset", () => {
  const [before, after] = ["2026-11-30T00:00:00.000Z", "2026-12-02T00:00:00.000Z"];
  const pending = { ...quota, open: false, closedReason: "registration" as const };
  const now = Date.parse(at);
  assert.deepEqual(windowOf(pending, "pending", now), { said: "takes runs of accepted teams", at: undefined });
  assert.deepEqual(windowOf({ ...pending, closesAt: after }, "pending", now), {
    said: "takes runs of accepted teams until",
    at: after,
  });
  assert.deepEqual(windowOf({ ...pending, closesAt: before }, "pending", now), { said: "closed", at: before });
  const early = { ...quota, open: false, closedReason: "early" as const, opensAt: after };
  assert.deepEqual(windowOf(early, "accepted", now), { said: "opens", at: after });
  for (const state of ["pending", "rejected"] as const)
    assert.deepEqual(windowOf(early, state, now), { said: "opens for accepted teams", at: after });
  assert.equal(hasClosed({ ...pending, closesAt: at }, now), true);
  assert.equal(hasClosed({ ...pending, closesAt: after }, now), false);
  assert.equal(hasClosed({ ...quota, closesAt: before }, now), false);
});

test("a file is asked for only where a run can be submitted", () => {
  assert.equal(takes({ ...quota, left: 1 }), true);
  assert.equal(takes({ ...quota, left: 0 }), false);
  assert.equal(takes({ ...quota, open: false }), false);
  assert.equal(takes({ ...quota, open: false, closedReason: "terms" }), true); // The form keeps files until then.
  assert.equal(takes({ ...quota, open: false, closedReason: "terms", left: 0 }), false);
});

test("a team that cannot submit now learns when it can", () => {
  const [now, later] = [Date.parse("2026-11-30T00:00:00.000Z"), "2026-12-02T00:00:00.000Z"];
  const used = { ...quota, left: 0 };
  const early = { ...quota, open: false, closedReason: "early" as const };
  const next = (...datasets: Parameters<typeof windowOf>[0][]) => nextRun({ datasets }, now);
  assert.deepEqual(next({ ...used, nextAt: at }, quota), { possible: true, at: undefined });
  assert.deepEqual(next({ ...used, nextAt: later }, { ...early, opensAt: at }), { possible: false, at });
  assert.deepEqual(next({ ...early, opensAt: at, left: 0 }), { possible: false, at: undefined });
  assert.deepEqual(next({ ...early, opensAt: at, left: 0, nextAt: later }), { possible: false, at: later });
  assert.deepEqual(next({ ...early, opensAt: later, left: 0, nextAt: at }), { possible: false, at: later });
  const brief = { ...early, opensAt: at, closesAt: later, left: 0, nextAt: later };
  assert.deepEqual(next(brief), { possible: false, at: undefined }); // closes before a run is left
  assert.deepEqual(next({ ...used, nextAt: later, closesAt: at }), { possible: false, at: undefined });
  assert.deepEqual(next({ ...quota, open: false, closedReason: "late", closesAt: at }), {
    possible: false,
    at: undefined,
  });
  assert.deepEqual(next(), { possible: false, at: undefined });
});

test("it is said before that scores are not shown at once", () => {
  const of = (split: "test" | "validation", ...columns: Rule[]): string =>
    scoresNote({ split, columns: columns.map((c, i) => ({ key: `P@${i}`, ...c })) });
  const later = "2126-06-01T12:00:00Z";
  assert.equal(
    of("test", {}),
    "Runs start blinded: a team sees scores of its run once the organizers have unblinded it.",
  );
  assert.equal(
    of("test", { from: "close" }),
    "Runs start blinded: a team sees scores of its run once the organizers have unblinded it and the window of the last team " +
      "has closed.",
  );
  assert.match(of("test", { from: "publication" }), /once the organizers have unblinded and published it\.$/);
  assert.match(of("validation", { from: "close" }), /^A team .* once the window of the last team has closed\.$/);
  assert.match(of("validation", { from: later }), /^A team .* once .*2126.* has passed\.$/);
  assert.equal(of("test", { audience: "organizers" }), "Only the organizers see scores.");
  assert.equal(of("validation", { from: "close" }, { audience: "team" }), "");
  assert.equal(of("validation", {}), "");
});

test("organizers see the scores of a baseline at once", () => {
  const of = (d: Omit<Parameters<typeof baselineNote>[0], "columns">, ...columns: Rule[]): string =>
    baselineNote({ ...d, columns: columns.map((c, i) => ({ key: `P@${i}`, ...c })) });
  assert.match(of({ split: "test" }, {}), /^You see the scores at once\..* unblinded and published the run\.$/);
  assert.match(of({ split: "training" }, {}), /have published the run\.$/);
  assert.match(of({ split: "training", publish: "onCompletion" }, {}), /Others see them at once, too/);
  assert.match(of({ split: "test", publish: "onCompletion" }, {}), /once you have unblinded the run\.$/);
  const closes = { split: "training", publish: "onCompletion", withheld: true } as const;
  assert.match(of(closes, { from: "close" }), /Others see them once the window of the last team has closed\.$/);
  assert.match(of({ ...closes, withheld: false }, { from: "close" }), /Others see them at once, too/);
  const team = { audience: "team" } as const;
  assert.match(of(closes, { from: "2126-06-01T12:00:00Z" }, team), /Others see some of them once .* has passed\.$/);
  assert.match(of({ split: "training" }, team), /Only organizers and teams see scores on this dataset\.$/);
});

test("the limits of a task say what is left while one of its datasets is open", () => {
  const of = (...datasets: object[]) =>
    togetherOf({ perDay: 9, left: 5, datasets } as Parameters<typeof togetherOf>[0], Date.parse(at) - 1);
  assert.match(
    of({ ...quota }, { ...quota, open: false, closedReason: "late" }),
    /may submit 9 in 24 hours: 5 runs left\.$/,
  );
  assert.match(of({ ...quota, open: false, closedReason: "late" }), /could submit 9 in 24 hours\.$/);
  assert.match(of({ ...quota, open: false, closedReason: "early", opensAt: at }), /may submit 9 in 24 hours\.$/);
});

test("a dataset is over once it has closed, or the quota is used up for good", () => {
  const now = Date.parse(at);
  const [before, after] = ["2026-11-30T00:00:00.000Z", "2026-12-02T00:00:00.000Z"];
  const closed = { ...quota, open: false, closedReason: "late" as const, closesAt: before };
  const early = { ...quota, open: false, closedReason: "early" as const, opensAt: after };
  for (const over of [closed, { ...quota, left: 0 }, { ...quota, left: 0, nextAt: after, closesAt: after }])
    assert.equal(isOver(over, now), true);
  const terms = { ...quota, open: false, closedReason: "terms" as const, left: 0, nextAt: after };
  for (const open of [quota, early, terms, { ...quota, left: 1 }, { ...quota, left: 0, nextAt: after }])
    assert.equal(isOver(open, now), false);
  assert.equal(allOver({ datasets: [] }, now), false);
  assert.equal(allOver({ datasets: [closed, { ...quota, left: 0 }] }, now), true);
  assert.equal(allOver({ datasets: [closed, early] }, now), false);
});

test("a team that must accept terms first cannot submit before", () => {
  const terms = { ...quota, open: false, closedReason: "terms" as const, left: 2 };
  assert.equal(onlyTerms({ datasets: [terms, { ...quota, left: 0 }] }), true);
  assert.equal(onlyTerms({ datasets: [terms, { ...quota, left: 1 }] }), false);
  assert.equal(onlyTerms({ datasets: [{ ...terms, left: 0 }] }), false);
  assert.equal(onlyTerms({ datasets: [{ ...terms, closedReason: "late" as const }] }), false);
});
