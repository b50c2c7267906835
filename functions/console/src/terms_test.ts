import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "./problem";
import { inputsNote, termsNotice, withNewTerms } from "./terms";

const refusal = (pointer: string): Problem =>
  new Problem({ title: "Invalid", detail: "2 faults", errors: [{ pointer, detail: "must be 2" }] });

const outcome = (request: Promise<unknown>): Promise<Problem> =>
  request.then(
    () => new Problem({ title: "", detail: "not refused" }),
    error => error as Problem,
  );

test("terms that changed are read again and asked for", async () => {
  let read = 0;
  const request = Promise.reject(refusal("/registration/acceptedTerms"));
  const refused = await outcome(withNewTerms(request, async () => read++));
  assert.equal(refused.document.errors?.[0]?.pointer, "/acceptedTerms");
  assert.match(refused.document.errors?.[0]?.detail ?? "", /terms have changed/);
  assert.equal(read, 1);
});

test("other refusals stay unchanged, and nothing is read again", async () => {
  let read = 0;
  const problem = refusal("/team");
  assert.equal(await outcome(withNewTerms(Promise.reject(problem), async () => read++)), problem);
  assert.equal(read, 0);
});

test("terms speak of submitting only while a dataset may take runs", () => {
  const quota = (...closedReason: ("terms" | "late" | "early")[]) => ({
    datasets: closedReason.map(r => ({
      datasetId: r,
      startsBlinded: false,
      types: [],
      open: false,
      closedReason: r,
    })),
  });
  const open = "The terms of the task have changed. Your team can submit only after it has accepted them.";
  assert.ok(termsNotice({ acceptedTerms: 1, quota: quota("late", "terms") }).startsWith(open));
  assert.ok(termsNotice({ acceptedTerms: 1, quota: quota("early") }).startsWith(open));
  assert.match(
    termsNotice({ quota: quota("late", "late") }),
    /^The task has terms. No dataset of the task takes a run of your team any more/,
  );
});

test("inputs for teams say what the reader's team lacks", () => {
  const task = { terms: { version: 2, text: "Cite us." } };
  const d = { inputsFor: "registrants" } as const;
  const said = (state: "accepted" | "pending" | "rejected", acceptedTerms: number): string =>
    inputsNote(d, task, { organizer: false, team: { state, acceptedTerms } });
  assert.match(inputsNote(d, task, { organizer: false, team: undefined }), /once yours is accepted/);
  assert.match(said("pending", 2), /if the organizers accept yours/);
  assert.match(said("rejected", 2), /if the organizers accept yours/);
  assert.match(said("accepted", 1), /once yours has accepted the terms/);
  assert.equal(said("accepted", 2), "");
  assert.equal(inputsNote(d, task, { organizer: true, team: undefined }), "");
  assert.equal(inputsNote({}, task, { organizer: false, team: undefined }), "");
});
