import assert from "node:assert/strict";
import { test } from "node:test";
import { againstNote, isOurs, keptBecause, publishedBy, unrestorable } from "./run_rules";

test("a run is ours if we or our team submitted it, and never if nobody is signed in", () => {
  const me = { id: "1", registrations: [{ registrationId: "9" }] };
  const team = "Otters";
  assert.equal(isOurs(me, { team: "baseline", userId: "1" }), true);
  assert.equal(isOurs(me, { team: "baseline", userId: "2" }), false);
  assert.equal(isOurs(me, { team, userId: "2", registrationId: "9" }), true);
  assert.equal(isOurs(me, { team, userId: "2", registrationId: "8" }), false);
  assert.equal(isOurs(me, { team, userId: "1" }), false); // of a team that the reader left
  assert.equal(isOurs(me, { team: "Heron" }), false); // of an anonymous team
  assert.equal(isOurs(undefined, { team, userId: "1", registrationId: "9" }), false);
  assert.equal(isOurs(undefined, { team: "Heron" }), false);
});

test("a team deletes a run until its review is published, or the final choice is over", () => {
  assert.equal(keptBecause({ published: false, finalsClosed: false }), "");
  assert.match(keptBecause({ published: true, finalsClosed: false }) ?? "", /published/);
  assert.match(keptBecause({ published: false, finalsClosed: true }) ?? "", /has closed/);
  assert.equal(keptBecause({ published: undefined, finalsClosed: false }), undefined);
});

test("only an accepted team that has accepted the terms can restore what it deletes", () => {
  assert.equal(unrestorable("accepted", false), "");
  assert.match(unrestorable("accepted", true), /terms/);
  assert.match(unrestorable("pending", false), /once the organizers have accepted/);
  assert.match(unrestorable("rejected", false), /only they can restore/);
});

test("an evaluation tells whether the review is published", () => {
  assert.equal(publishedBy({}), true);
  assert.equal(publishedBy({ hidden: "columns" }), true);
  assert.equal(publishedBy({ hidden: "unpublished" }), false);
  assert.equal(publishedBy({ hidden: "blinded" }), undefined);
  assert.equal(publishedBy(undefined), undefined);
});

test("values against an earlier version, or of a run that has failed since, say so", () => {
  const note = (state: "completed" | "failed", version: number, boardVersion = 2) =>
    againstNote({ state }, { truthVersion: version }, { truthVersion: 2, boardVersion });
  assert.equal(note("completed", 2), "");
  assert.match(note("completed", 1), /against version 1 of .* has not been evaluated against version 2 yet/);
  assert.match(
    note("failed", 1),
    /against version 1 of .* failed when it was evaluated against version 2: leaderboards/,
  );
  assert.match(
    note("failed", 2),
    /against version 2 of .* failed when it was evaluated again: leaderboards do not show it/,
  );
  assert.match(note("failed", 1, 1), /evaluated against version 2: leaderboards show it until they show version 2\.$/);
});
