// The story of ../../README.md with openapi-fetch and the types that openapi-typescript generates from the document.
import { createHash } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./assay.js";

type Upload = components["schemas"]["Upload"];
type Problem = components["schemas"]["Problem"];

const { ASSAY_URL = "", ASSAY_ORGANIZER, ASSAY_PARTICIPANT } = process.env;
const clientOf = (token?: string) =>
  createClient<paths>({
    baseUrl: ASSAY_URL,
    headers: { Authorization: `Bearer ${token}` },
    querySerializer: { array: { style: "form", explode: false } },
  });
const olivia = clientOf(ASSAY_ORGANIZER);
const tom = clientOf(ASSAY_PARTICIPANT);
const mergePatch = { "Content-Type": "application/merge-patch+json" };

/** Returns the answer in JSON, or throws an error with its problem. The type has text because some answers can be CSV. */
function answered<T>({ data, error, response }: { data?: T | string; error?: Problem; response: Response }): T {
  if (data === undefined || typeof data === "string") throw new Error(`${response.status} ${error?.detail}`);
  return data;
}

function refused({ error, response }: { error?: Problem; response: Response }): string {
  if (!error) throw new Error(`${response.status} is no problem`);
  return `${response.status} ${error.type}`;
}

const pending = (bytes: string) => ({
  size: Buffer.byteLength(bytes),
  sha256: createHash("sha256").update(bytes).digest("hex"),
});

async function send(upload: Upload | undefined, bytes: string) {
  if (!upload) throw new Error("there is no link to upload to");
  const response = await fetch(upload.url, { method: upload.method, headers: upload.headers, body: bytes });
  if (!response.ok) throw new Error(`the upload got ${response.status}`);
}

const user = answered(await tom.PATCH("/v1/user", { headers: mergePatch, body: {} }));
console.log("user:", user.name, user.known ? "is known" : "is not known");

const create = () =>
  olivia.POST("/v1/organizers", { params: { header: { "Idempotency-Key": "story" } }, body: { name: "Lake Lab" } });
const [first, second] = [await create(), await create()];
const organizer = answered(first);
console.log(
  "organizer:",
  answered(second).id === organizer.id ? "the same" : "another",
  "on repetition, replay",
  second.response.headers.get("Idempotent-Replay"),
);

const task = answered(
  await olivia.POST("/v1/tasks", {
    body: { organizerId: organizer.id, name: "Lake search", description: "Find *lakes*." },
  }),
);
const inTask = { taskId: task.id };

const truth = "1 0 lake 1\n1 0 pond 0\n2 0 river 2\n";
const draft = (measure: string): components["schemas"]["DatasetDraft"] => ({
  taskId: task.id,
  name: "Lakes",
  split: "test",
  runFormat: { kind: "trec-run" },
  evaluator: { kind: "retrieval", measures: ["nDCG@10", measure] },
  truths: [{ name: "qrels.txt", ...pending(truth) }],
});
const invalid = await olivia.POST("/v1/datasets", { body: draft("Beauty") });
console.log("invalid dataset:", refused(invalid), invalid.error?.errors?.map(e => e.pointer).join());

const dataset = answered(await olivia.POST("/v1/datasets", { body: draft("RR") }));
console.log("ground truth:", dataset.truths?.[0]?.state);
await send(dataset.truths?.[0]?.upload, truth);
const again = await olivia.GET("/v1/datasets/{datasetId}", { params: { path: { datasetId: dataset.id } } });
console.log("ground truth:", answered(again).truths?.[0]?.state);

const got = await olivia.GET("/v1/tasks/{taskId}", { params: { path: inTask } });
const change = (etag: string | null) =>
  olivia.PATCH("/v1/tasks/{taskId}", {
    params: { path: inTask, header: { "If-Match": etag ?? "" } },
    headers: mergePatch,
    body: { submissions: { perDay: 5 }, description: null },
  });
const etag = got.response.headers.get("ETag");
const changed = answered(await change(etag));
console.log(
  "change:",
  changed.submissions?.perDay,
  "submissions a day,",
  changed.description ? "a" : "no",
  "description",
);
console.log("stale change:", refused(await change(etag)));

const registration = answered(
  await tom.POST("/v1/tasks/{taskId}/registrations", { params: { path: inTask }, body: { team: "Tom and friends" } }),
);
console.log("registration:", registration.team, registration.state);

async function submit(title: string, bytes: string) {
  const submission = answered(
    await tom.POST("/v1/tasks/{taskId}/submissions", {
      params: { path: inTask },
      body: {
        type: "upload",
        title,
        visibility: "public",
        files: [{ datasetId: dataset.id, name: "run.txt", ...pending(bytes) }],
      },
    }),
  );
  console.log("submission:", submission.title, submission.quota?.remainingToday, "left today");
  await send(submission.files?.[0]?.upload, bytes);
  const run = { path: { runId: submission.runIds[0] ?? "" } };
  for (;;) {
    const { state, diagnostics, evaluationId } = answered(await tom.GET("/v1/runs/{runId}", { params: run }));
    if (state === "completed" || state === "failed" || state === "cancelled") {
      console.log("run:", state, evaluationId ? "shown" : "blinded", "with", diagnostics.length, "diagnostics");
      break;
    }
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  const review = answered(
    await olivia.PATCH("/v1/runs/{runId}/review", {
      params: run,
      headers: mergePatch,
      body: { published: true, blinded: false, noErrors: true },
    }),
  );
  console.log("review:", review.published ? "published" : "unpublished", review.blinded ? "blinded" : "unblinded");
  return submission;
}
await submit("near", "1 Q0 lake 1 2.0 tom\n1 Q0 pond 2 1.0 tom\n2 Q0 sea 1 2.0 tom\n2 Q0 river 2 1.0 tom\n");
const worse = await submit(
  "far",
  "1 Q0 pond 1 2.0 tom\n1 Q0 lake 2 1.0 tom\n2 Q0 sea 1 2.0 tom\n2 Q0 river 2 1.0 tom\n",
);

const board = (offset: number) =>
  tom.GET("/v1/tasks/{taskId}/evaluations", {
    params: { path: inTask, query: { "filter[datasetId]": [dataset.id], sort: "rank", offset, limit: 2 } },
  });
for (const e of answered(await board(0)).data) {
  console.log("leaderboard:", e.rank, e.team, e.title, e.measures["nDCG@10"]?.toFixed(4), e.measures.RR?.toFixed(4));
}
console.log("leaderboard past its end:", (await board(2)).response.status);

const runs: string[] = [];
for (let cursor: string | undefined; ; ) {
  const page = answered(
    await tom.GET("/v1/runs", {
      params: { query: { "filter[taskId]": [task.id], "filter[state]": ["completed"], limit: 1, cursor } },
    }),
  );
  runs.push(...page.data.map(run => run.id));
  if (!page.links.next) break;
  cursor = new URL(page.links.next, ASSAY_URL).searchParams.get("cursor") ?? undefined;
}
const none = await tom.GET("/v1/runs", {
  params: { query: { "filter[taskId]": [task.id], "filter[state]": ["failed", "cancelled"] } },
});
console.log("runs:", new Set(runs).size, "on pages of one; failed:", none.response.status);

const evaluate = async (body: components["schemas"]["EvaluatorInput"]) => {
  const output = answered(await tom.POST("/v1/tools/evaluator", { body }));
  const run = output.runs[0];
  if (!run) throw new Error("the tool evaluated no run");
  return run;
};
const ranking = await evaluate({
  runs: [{ name: "mine", files: [{ name: "run.txt", text: "1 Q0 pond 1 2.0 tom\n1 Q0 lake 2 1.0 tom\n" }] }],
  truth: { files: [{ name: "qrels.txt", text: "1 0 lake 1\n1 0 river 1\n" }] },
  measures: ["RR", "AP"],
});
console.log("tool:", ranking.name, ranking.measures.RR?.toFixed(4), ranking.perTopic?.["1"]?.AP?.toFixed(4));
const constant = await evaluate({
  runs: [{ files: [{ name: "run.csv", text: "id,depth\na,1\nb,1\n" }] }],
  truth: {
    kind: "regression",
    format: { kind: "csv", idField: "id", valueField: "depth" },
    files: [{ name: "truth.csv", text: "id,depth\na,1\nb,3\n" }],
  },
  measures: ["MAE", "Pearson"],
});
console.log(
  "tool:",
  constant.measures.MAE?.toFixed(4),
  constant.measures.Pearson === null ? "and a value that is not defined" : "",
);

const inSubmission = { params: { path: { ...inTask, submissionId: worse.id } } };
const remove = "/v1/tasks/{taskId}/submissions/{submissionId}";
console.log("deletion of what is published:", refused(await tom.DELETE(remove, inSubmission)));
console.log("deletion by organizers:", (await olivia.DELETE(remove, inSubmission)).response.status);
console.log("deleted:", refused(await tom.GET(remove, inSubmission)));
