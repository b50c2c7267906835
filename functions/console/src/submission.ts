// Uploading the files of a submission, when it is made, or later when the reader chooses the same file again.
import { client, ok, type Schemas } from "./api";
import { read } from "./data";
import { type Declared, declare, inline, send } from "./upload";

type Submission = Schemas["Submission"];
export type Chosen = { datasetId: string; file: File };
/** Tell receives the progress of each file by name. */
export type Tell = (name: string, doing: string, share: number) => void;

const path = "/v1/tasks/{taskId}/submissions/{submissionId}";

/**
 * submit makes a submission. Small files are in the request, so that the server refuses faulty files before it counts
 * the runs. If the upload of other files fails, broken has the error. Then the submission exists and counts, and
 * submitting again would make a second submission. repeated says that the team has submitted the same before: made is
 * that submission, and nothing was charged.
 */
export async function submit(
  taskId: string,
  draft: object,
  chosen: Chosen[],
  tell: Tell,
  signal: AbortSignal,
): Promise<{ made: Submission; repeated: boolean; broken?: Error }> {
  const { limits } = await read("/info", {});
  const small = chosen.reduce((sum, c) => sum + c.file.size, 0) <= limits.inlineFiles;
  const files = await Promise.all(
    chosen.map(async ({ datasetId, file }) =>
      small
        ? { datasetId, name: file.name, content: await inline(file) }
        : { datasetId, ...(await declare(file, share => tell(file.name, "Reading", share), signal)) },
    ),
  );
  const body = { ...draft, ...(files.length > 0 && { files }) } as Schemas["SubmissionDraft"];
  const answer = client.POST("/v1/tasks/{taskId}/submissions", { params: { path: { taskId } }, body });
  const made = (await ok(answer)) as Submission; // no preview
  const repeated = (await answer).response.status === 200;
  if (small) return { made, repeated };
  return upload(made, chosen, tell, signal).then(
    () => ({ made, repeated }),
    (broken: Error) => ({ made, repeated, broken }),
  );
}

/** upload sends the files of a submission that have not arrived. */
export async function upload(of: Submission, chosen: Chosen[], tell: Tell, signal: AbortSignal): Promise<void> {
  const ids = { taskId: of.taskId, submissionId: of.id };
  for (const { datasetId, file } of chosen) {
    let latest: Submission | undefined = of;
    await send(
      file,
      async () => {
        const now: Submission = latest ?? (await read(path, { path: ids }));
        latest = undefined; // Links expire, so each further attempt reads new links.
        const at = now.files?.find(f => f.datasetId === datasetId && f.name === file.name);
        if (!at) throw new Error(`The submission has no file ${file.name}.`);
        return at.state === "stored" ? undefined : at.upload;
      },
      share => tell(file.name, "Sending", share),
      signal,
    );
  }
}

/** resume uploads a file again whose upload was interrupted, if it is the same file. */
export async function resume(run: Schemas["Run"], file: File, tell: Tell, signal: AbortSignal): Promise<void> {
  const of = await read(path, { path: { taskId: run.taskId, submissionId: run.submissionId } });
  const digest: Declared = await declare(file, share => tell(file.name, "Reading", share));
  const at = of.files?.find(f => f.datasetId === run.datasetId && f.state === "pending" && f.sha256 === digest.sha256);
  if (!at)
    throw new Error(
      "This is another file than the one that was submitted. Choose that one, or submit this one by itself.",
    );
  await upload(of, [{ datasetId: run.datasetId, file: new File([file], at.name) }], tell, signal);
}
