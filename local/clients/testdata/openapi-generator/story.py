"""The story of ../../README.md with the client that openapi-generator generates from the OpenAPI document."""

import hashlib
import os
import time
import urllib.request
from urllib.parse import parse_qs, urlsplit

from assay import (
    ApiClient,
    Configuration,
    DatasetDraft,
    DatasetsApi,
    EvaluationsApi,
    Evaluator,
    EvaluatorInput,
    File,
    InlineFile,
    OrganizerDraft,
    OrganizersApi,
    Problem,
    RegistrationDraft,
    RegistrationsApi,
    ReviewPatch,
    RunFile,
    RunFormat,
    RunReference,
    RunsApi,
    SubmissionDraft,
    SubmissionRulesPatch,
    SubmissionsApi,
    TaskDraft,
    TaskPatch,
    TasksApi,
    ToolsApi,
    TruthReference,
    UsersApi,
)
from assay.exceptions import ApiException


def client_of(token):
    return ApiClient(Configuration(host=os.environ["ASSAY_URL"], access_token=token))


olivia, tom = client_of(os.environ["ASSAY_ORGANIZER"]), client_of(os.environ["ASSAY_PARTICIPANT"])


def refusal(call, *args, **params) -> Problem:
    """Makes a call that must fail, and returns its problem."""
    try:
        call(*args, **params)
    except ApiException as refused:
        assert isinstance(refused.data, Problem)
        return refused.data
    raise AssertionError("the call succeeded")


def header(answer, name):
    """Returns a header by its name, ignoring case, because the client keeps the case that the server sent."""
    return {n.lower(): value for n, value in answer.headers.items()}[name.lower()]


def digest(content):
    return hashlib.sha256(content).hexdigest()


def send(upload, content):
    request = urllib.request.Request(upload.url, content, upload.headers, method=upload.method)
    urllib.request.urlopen(request).close()


user = UsersApi(tom).update_current_user({})
print("user:", user.name, "is known" if user.known else "is not known")


def create():
    return OrganizersApi(olivia).create_organizer_with_http_info(OrganizerDraft(name="Lake Lab"), idempotency_key="story")


organizer, second = create().data, create()
same = "the same" if second.data.id == organizer.id else "another"
print("organizer:", same, "on repetition, replay", header(second, "Idempotent-Replay"))

tasks = TasksApi(olivia)
task = tasks.create_task(TaskDraft(organizer_id=organizer.id, name="Lake search", description="Find *lakes*.")).id

datasets = DatasetsApi(olivia)
truth = b"1 0 lake 1\n1 0 pond 0\n2 0 river 2\n"
draft = DatasetDraft(
    task_id=task,
    name="Lakes",
    split="test",
    run_format=RunFormat(kind="trec-run"),
    evaluator=Evaluator(kind="retrieval", measures=["nDCG@10", "Beauty"]),
    truths=[File(name="qrels.txt", size=len(truth), sha256=digest(truth))],
)
problem = refusal(datasets.create_dataset, draft)
print("invalid dataset:", problem.status, problem.type, problem.errors[0].pointer)

draft.evaluator.measures[1] = "RR"
dataset = datasets.create_dataset(draft)
print("ground truth:", dataset.truths[0].state)
send(dataset.truths[0].upload, truth)
print("ground truth:", datasets.get_dataset(dataset.id).truths[0].state)

etag = header(tasks.get_task_with_http_info(task), "ETag")
patch = TaskPatch(submissions=SubmissionRulesPatch(per_day=5), description=None)
changed = tasks.update_task(task, patch, if_match=etag)
print("change:", changed.submissions.per_day, "submissions a day,", "a" if changed.description else "no", "description")
problem = refusal(tasks.update_task, task, patch, if_match=etag)
print("stale change:", problem.status, problem.type)

registration = RegistrationsApi(tom).create_registration(task, RegistrationDraft(team="Tom and friends"))
print("registration:", registration.team, registration.state)


def submit(title, content):
    submission = SubmissionsApi(tom).create_submission(
        task,
        SubmissionDraft(
            type="upload",
            title=title,
            visibility="public",
            files=[RunFile(dataset_id=dataset.id, name="run.txt", size=len(content), sha256=digest(content))],
        ),
    )
    print("submission:", submission.title, submission.quota.remaining_today, "left today")
    send(submission.files[0].upload, content)
    while (run := RunsApi(tom).get_run(submission.run_ids[0])).state not in ("completed", "failed", "cancelled"):
        time.sleep(0.05)
    print("run:", run.state, "shown" if run.evaluation_id else "blinded", "with", len(run.diagnostics), "diagnostics")
    review = RunsApi(olivia).update_review(run.id, ReviewPatch(published=True, blinded=False, no_errors=True))
    print("review:", "published" if review.published else "unpublished", "blinded" if review.blinded else "unblinded")
    return submission


submit("near", b"1 Q0 lake 1 2.0 tom\n1 Q0 pond 2 1.0 tom\n2 Q0 sea 1 2.0 tom\n2 Q0 river 2 1.0 tom\n")
worse = submit("far", b"1 Q0 pond 1 2.0 tom\n1 Q0 lake 2 1.0 tom\n2 Q0 sea 1 2.0 tom\n2 Q0 river 2 1.0 tom\n")


def board(offset):
    return EvaluationsApi(tom).list_task_evaluations_with_http_info(
        task, filter_dataset_id=[dataset.id], sort="rank", offset=offset, limit=2
    )


for e in board(0).data.data:
    print("leaderboard:", e.rank, e.team, e.title, f"{e.measures['nDCG@10']:.4f} {e.measures['RR']:.4f}")
print("leaderboard past its end:", board(2).status_code)

runs, cursor = set(), None
while True:
    page = RunsApi(tom).list_runs(filter_task_id=[task], filter_state=["completed"], limit=1, cursor=cursor)
    runs |= {run.id for run in page.data}
    if not page.links.next:
        break
    cursor = parse_qs(urlsplit(page.links.next).query)["cursor"][0]
none = RunsApi(tom).list_runs_with_http_info(filter_task_id=[task], filter_state=["failed", "cancelled"])
print("runs:", len(runs), "on pages of one; failed:", none.status_code)


def evaluate(run, truth, measures):
    return ToolsApi(tom).invoke_evaluator(EvaluatorInput(runs=[run], truth=truth, measures=measures)).runs[0]


ranking = evaluate(
    RunReference(name="mine", files=[InlineFile(name="run.txt", text="1 Q0 pond 1 2.0 tom\n1 Q0 lake 2 1.0 tom\n")]),
    TruthReference(files=[InlineFile(name="qrels.txt", text="1 0 lake 1\n1 0 river 1\n")]),
    ["RR", "AP"],
)
print("tool:", ranking.name, f"{ranking.measures['RR']:.4f} {ranking.per_topic['1']['AP']:.4f}")
constant = evaluate(
    RunReference(files=[InlineFile(name="run.csv", text="id,depth\na,1\nb,1\n")]),
    TruthReference(
        kind="regression",
        format=RunFormat(kind="csv", id_field="id", value_field="depth"),
        files=[InlineFile(name="truth.csv", text="id,depth\na,1\nb,3\n")],
    ),
    ["MAE", "Pearson"],
)
undefined = constant.measures["Pearson"] is None
print("tool:", f"{constant.measures['MAE']:.4f}", "and a value that is not defined" if undefined else "")

problem = refusal(SubmissionsApi(tom).delete_submission, task, worse.id)
print("deletion of what is published:", problem.status, problem.type)
deletion = SubmissionsApi(olivia).delete_submission_with_http_info(task, worse.id)
print("deletion by organizers:", deletion.status_code)
problem = refusal(SubmissionsApi(tom).get_submission, task, worse.id)
print("deleted:", problem.status, problem.type)
