import assert from "node:assert/strict";
import { test } from "node:test";
import { publishable, publishingVerb, questionOf } from "./publishing_question";

const run = (team: string, more: object = {}) => ({ runId: team, datasetId: "d", team, registrationId: team, ...more });

test("runs of rejected teams are not published together with others", () => {
  const all = [run("Otters"), run("Beavers", { rejected: true })];
  assert.deepEqual(
    publishable(all).map(r => r.team),
    ["Otters"],
  );
});

test("the question has the numbers of what happens", () => {
  const runs = [run("Otters"), run("Otters")];
  assert.equal(
    questionOf("Unblind and publish", runs, 1, 1, [{ audience: "everyone", runs: 2 }]),
    "Unblind and publish 2 runs of 1 team, 1 marked as final? Everyone who sees the task will see scores of 2 runs. " +
      "Left out: 1 run of rejected teams. Publish those one by one, in their reviews.",
  );
});

test("the question of a published run says that unblinding shows its scores", () => {
  assert.equal(
    questionOf("Unblind", [run("Otters")], 0, 0, [{ audience: "everyone", runs: 1 }]),
    "Unblind 1 run of 1 team, none marked as final? Everyone who sees the task will see scores of 1 run.",
  );
});

test("the question counts two teams with one name as two", () => {
  const all = [run("Otters"), run("Otters", { registrationId: "anonymous" })];
  assert.equal(
    questionOf("Unblind and publish", all, 0, 0, []),
    "Unblind and publish 2 runs of 2 teams, none marked as final?",
  );
});

test("the question says nothing of final runs where no dataset takes them", () => {
  assert.equal(questionOf("Publish", [run("Otters")], undefined, 0, []), "Publish 1 run of 1 team?");
});

test("the question counts baselines apart from runs of teams", () => {
  const all = [run("Otters"), run("Otters"), run("baseline"), run("baseline")];
  assert.equal(questionOf("Publish", all, undefined, 0, []), "Publish 4 runs: 2 of 1 team and 2 baselines?");
});

test("the question counts baselines as no team, and says when withheld scores are shown", () => {
  const all = [run("Otters"), run("baseline")];
  assert.equal(
    questionOf("Unblind and publish", all, 0, 0, [], ["No scores on Waters are shown before a day."]),
    "Unblind and publish 2 runs: 1 of 1 team and 1 baseline, none marked as final? " +
      "No scores on Waters are shown before a day.",
  );
});

test("baselines, which have no team, are seen by the organizers", () => {
  assert.equal(
    questionOf("Publish", [run("Otters"), run("baseline")], 0, 0, [{ audience: "team", runs: 2 }]),
    "Publish 2 runs: 1 of 1 team and 1 baseline, none marked as final? " +
      "Only the organizers and the teams that submitted them will see scores of 2 runs.",
  );
});

test("no team sees a baseline that is unblinded", () => {
  assert.equal(
    questionOf("Unblind", [run("baseline")], 0, 0, [{ audience: "team", runs: 1 }]),
    "Unblind 1 baseline? Only the organizers and the users who submitted them will see scores of 1 run.",
  );
});

test("publishing unblinds only if a run is blinded or unknown", () => {
  assert.equal(publishingVerb([{ hidden: "unpublished" }, {}]), "Publish");
  assert.equal(publishingVerb([{ hidden: "unpublished" }, { hidden: "blinded" }]), "Unblind and publish");
  assert.equal(publishingVerb([undefined]), "Unblind and publish");
});
