import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { deliveryStates, eventLabel } from "./event_labels";
import { learnNames } from "./known_names";
import { inWords, memberOf, sentencesOf, separate } from "./member_names";
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

test("plain text stays unchanged, whatever it quotes", () => {
  const detail = "there is no retrieval measure `nDCQ`; did you mean nDCG? There are infAP, perDay";
  assert.equal(inWords({ detail }, label), detail);
  const text = (value: string) => ({ type: "text" as const, value });
  const parts = [text("nDCG and `perDay` at "), { type: "member" as const, value: "/perDay" }];
  assert.equal(inWords({ detail: "", parts }, label), "nDCG and `perDay` at “Runs in 24 hours”");
});

test("advice on merge patches is advice on fields", () => {
  const [, advice] = /const Unset = "([^"]+)"/.exec(readFileSync("../../shared/language/problem/problem.go", "utf8"))!;
  assert.equal(
    inWords({ detail: `goes only with the kind worker: ${advice}` }),
    "goes only with the kind worker: leave it empty",
  );
});

test("sizes, parameters and resources have words, and no ids", () => {
  const words = (part: object): string => inWords({ detail: "", parts: [part as never] }, label);
  assert.equal(words({ type: "size", value: "1500 bytes", bytes: 1500 }), "1.5 kB");
  assert.equal(words({ type: "parameter", value: "filter[taskId]" }), "task");
  assert.equal(words({ type: "parameter", value: "perDay" }), "“Runs in 24 hours”");
  const id = "01JZ3V7Q0D8T5RZ0S6R1W9C4XK";
  const run = { type: "resource", value: id, resource: "run", id };
  assert.equal(words(run), "…W9C4XK");
  learnNames({ data: [{ id, title: "", label: "BM25" }] });
  assert.equal(words(run), "BM25");
  assert.equal(words({ ...run, value: `Otters (${id})`, name: "Otters" }), "Otters");
});

test("every operation that a text can name has a place in the console", () => {
  const declared = readFileSync("../../shared/language/problem/operations.go", "utf8");
  const all = [...declared.matchAll(/operation\("(\w+)",\s*"(\w+ [^"]+)"\)/g)];
  assert.ok(all.length > 20);
  for (const [, operation, value] of all) {
    const said = inWords({ detail: "", parts: [{ type: "operation", value: value!, operation }] }, label);
    assert.doesNotMatch(said, /\/|\{|[A-Z]{3}|the page that does it/, operation);
  }
  const body = '{"acceptedTerms":2}';
  const terms = { type: "operation" as const, value: "", operation: "updateRegistration", body };
  assert.match(inWords({ detail: "", parts: [terms] }), /Accept/);
  assert.match(
    inWords({ detail: "", parts: [{ ...terms, body: '{"state":"accepted"}' }] }),
    /“Accept” on the page of the team/,
  );
});

/** screensOf are the sources with the buttons of each place that a text can name, by a part of the place. */
const screensOf: [RegExp, string[]][] = [
  [/beside the invitation$/, ["ui/invitations.tsx"]],
  [/page of the organizer$/, ["screens/organizer.tsx", "ui/invitations.tsx"]],
  [/page of the task$/, ["screens/task.tsx", "ui/task_nav.tsx"]],
  [/page of the team$/, ["ui/decide.tsx"]],
  [/page of the run$/, ["run_actions.tsx"]],
  [/under Manage, Teams$/, ["screens/task_desk.tsx", "ui/invitations.tsx"]],
  [/page under your name$/, ["screens/me.tsx"]],
  [/page Team(, |$)/, ["screens/team.tsx", "ui/invitations.tsx", "ui/make_owner.tsx", "ui/changed_terms.tsx"]],
  [/page Edit$/, ["screens/edit_task.tsx", "ui/delete.tsx"]],
  [/page Webhooks$/, ["screens/webhooks.tsx"]],
  [/in the trash$/, ["screens/trash.tsx"]],
];

/** shows reports whether the source of a screen has the label. A value in the label, such as {kind}, stands for any words. */
function shows(file: string, wanted: string): boolean {
  const source = readFileSync(`src/${file}`, "utf8");
  const texts = source.match(/(?<=>)[^<>"]+(?=<)|"[^"\n]+"|^\s+\w[^<>"]*$/gm) ?? [];
  return texts.some(text => {
    const [first, ...rest] = text.replace(/^["\s]+|["\s]+$/g, "").split(/\{\w+\}/);
    const literal = (part: string): string => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    if (rest.length > 0 && !/\w/.test([first, ...rest].join(""))) return false; // a value without words
    return new RegExp(`^${[first!, ...rest].map(literal).join("\\w[\\w ]*")}$`).test(wanted);
  });
}

test("every button that a place names is on the screen of the place", () => {
  assert.equal(shows("screens/webhooks.tsx", "Enable"), false);
  assert.equal(shows("ui/delete.tsx", "Delete the task"), true);
  const declared = readFileSync("src/operation_names.ts", "utf8");
  const named = [...declared.matchAll(/"“([^”]+)” ([^"]+)"/g)];
  assert.ok(named.length > 15);
  for (const [place, button, where] of named) {
    const screens = screensOf.find(([at]) => at.test(where!))?.[1] ?? [];
    assert.ok(
      screens.some(file => shows(file, button!)),
      place,
    );
  }
});

test("deliveries are said in words", () => {
  const documented = JSON.parse(readFileSync("../service/openapi.json", "utf8")).components.schemas.Delivery.properties;
  for (const state of documented.state.enum) assert.match(deliveryStates[state as "failed"] ?? "", /^[a-z ]+$/);
  for (const type of documented.type.enum ?? ["webhook.created", "run.failed"])
    assert.doesNotMatch(eventLabel(type), /\./);
});

test("a pointer names its last member", () => {
  assert.equal(memberOf("/submissions/perDay", label), "“Runs in 24 hours”: ");
  assert.equal(memberOf("/evaluator/measures/3", label), "measures: ");
  assert.equal(memberOf("/datasetIds/0", label), "datasets: ");
  assert.equal(memberOf("", label), "");
});

test("advice for a dataset names its fields on pages that do not have them", () => {
  const words = (type: "member", value: string): string => inWords({ detail: "", parts: [{ type, value }] });
  assert.equal(words("member", "/submissions/total"), "“Runs of a team in all”");
  assert.equal(words("member", "columns"), "“When scores are seen”");
});

test("faults of several members with the same words are said once", () => {
  const fault = (i: number) => ({ pointer: `/runs/${i}/runId`, detail: "there is no such run" });
  const detail = "The input names something that does not exist.";
  assert.deepEqual(sentencesOf({ detail, errors: [fault(0), fault(1)] }), ["run: there is no such run"]);
  assert.deepEqual(sentencesOf({ detail, errors: [] }), [detail]);
  assert.deepEqual(sentencesOf({ detail }), [detail]);
});
