"""The story of ../../README.md with the client that openapi-python-client generates from the OpenAPI document."""

import hashlib
import os
import time
from urllib.parse import parse_qs, urlsplit

import httpx
from assay import AuthenticatedClient
from assay.api.datasets import create_dataset, get_dataset
from assay.api.evaluations import list_task_evaluations
from assay.api.organizers import create_organizer
from assay.api.registrations import create_registration
from assay.api.runs import get_run, list_runs, update_review
from assay.api.submissions import create_submission, delete_submission, get_submission
from assay.api.tasks import create_task, get_task, update_task
from assay.api.tools import invoke_evaluator
from assay.api.users import update_current_user
from assay.models import (
    DatasetDraft,
    DatasetDraftSplit,
    Evaluator,
    EvaluatorInput,
    EvaluatorKind,
    File,
    InlineFile,
    ListRunsFilterstateItem,
    OrganizerDraft,
    Problem,
    RegistrationDraft,
    ReviewPatch,
    RunFile,
    RunFormat,
    RunFormatKind,
    RunReference,
    RunState,
    SubmissionDraft,
    SubmissionDraftType,
    SubmissionDraftVisibility,
    SubmissionRulesPatch,
    TaskDraft,
    TaskPatch,
    TruthReference,
    TruthReferenceKind,
    UserPatch,
)
from assay.types import UNSET


def client_of(token):
    return AuthenticatedClient(base_url=os.environ["ASSAY_URL"], token=token)


olivia, tom = client_of(os.environ["ASSAY_ORGANIZER"]), client_of(os.environ["ASSAY_PARTICIPANT"])


def answered(answer):
    """Returns the answer, or raises an error with its problem."""
    assert answer is not None and not isinstance(answer, Problem), answer
    return answer


def refused(answer) -> Problem:
    assert isinstance(answer, Problem), answer
    return answer


def digest(content):
    return hashlib.sha256(content).hexdigest()


def send(upload, content):
    httpx.request(upload.method, upload.url, headers=upload.headers.to_dict(), content=content).raise_for_status()


user = answered(update_current_user.sync(client=tom, body=UserPatch()))
print("user:", user.name, "is known" if user.known else "is not known")


def create():
    return create_organizer.sync_detailed(client=olivia, body=OrganizerDraft(name="Lake Lab"), idempotency_key="story")


organizer, second = answered(create().parsed), create()
same = "the same" if answered(second.parsed).id == organizer.id else "another"
print("organizer:", same, "on repetition, replay", second.headers["Idempotent-Replay"])

draft = TaskDraft(organizer_id=organizer.id, name="Lake search", description="Find *lakes*.")
task = answered(create_task.sync(client=olivia, body=draft)).id

truth = b"1 0 lake 1\n1 0 pond 0\n2 0 river 2\n"
draft = DatasetDraft(
    task_id=task,
    name="Lakes",
    split=DatasetDraftSplit.TEST,
    run_format=RunFormat(kind=RunFormatKind.TREC_RUN),
    evaluator=Evaluator(kind=EvaluatorKind.RETRIEVAL, measures=["nDCG@10", "Beauty"]),
    truths=[File(name="qrels.txt", size=len(truth), sha256=digest(truth))],
)
problem = refused(create_dataset.sync(client=olivia, body=draft))
print("invalid dataset:", problem.status, problem.type_, problem.errors[0].pointer)

draft.evaluator.measures[1] = "RR"
dataset = answered(create_dataset.sync(client=olivia, body=draft))
print("ground truth:", dataset.truths[0].state)
send(dataset.truths[0].upload, truth)
print("ground truth:", answered(get_dataset.sync(dataset.id, client=olivia)).truths[0].state)

etag = get_task.sync_detailed(task, client=olivia).headers["ETag"]
patch = TaskPatch(submissions=SubmissionRulesPatch(per_day=5), description=None)
changed = answered(update_task.sync(task, client=olivia, body=patch, if_match=etag))
print("change:", changed.submissions.per_day, "submissions a day,", "a" if changed.description else "no", "description")
problem = refused(update_task.sync(task, client=olivia, body=patch, if_match=etag))
print("stale change:", problem.status, problem.type_)

registration = answered(create_registration.sync(task, client=tom, body=RegistrationDraft(team="Tom and friends")))
print("registration:", registration.team, registration.state)


def submit(title, content):
    draft = SubmissionDraft(
        type_=SubmissionDraftType.UPLOAD,
        title=title,
        visibility=SubmissionDraftVisibility.PUBLIC,
        files=[RunFile(dataset_id=dataset.id, name="run.txt", size=len(content), sha256=digest(content))],
    )
    submission = answered(create_submission.sync(task, client=tom, body=draft))
    print("submission:", submission.title, submission.quota.remaining_today, "left today")
    send(submission.files[0].upload, content)
    ends = (RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED)
    while (run := answered(get_run.sync(submission.run_ids[0], client=tom))).state not in ends:
        time.sleep(0.05)
    print("run:", run.state, "shown" if run.evaluation_id else "blinded", "with", len(run.diagnostics), "diagnostics")
    patch = ReviewPatch(published=True, blinded=False, no_errors=True)
    review = answered(update_review.sync(run.id, client=olivia, body=patch))
    print("review:", "published" if review.published else "unpublished", "blinded" if review.blinded else "unblinded")
    return submission


submit("near", b"1 Q0 lake 1 2.0 tom\n1 Q0 pond 2 1.0 tom\n2 Q0 sea 1 2.0 tom\n2 Q0 river 2 1.0 tom\n")
worse = submit("far", b"1 Q0 pond 1 2.0 tom\n1 Q0 lake 2 1.0 tom\n2 Q0 sea 1 2.0 tom\n2 Q0 river 2 1.0 tom\n")


def board(offset):
    return list_task_evaluations.sync_detailed(
        task, client=tom, filterdataset_id=[dataset.id], sort="rank", offset=offset, limit=2
    )


for e in answered(board(0).parsed).data:
    print("leaderboard:", e.rank, e.team, e.title, f"{e.measures['nDCG@10']:.4f} {e.measures['RR']:.4f}")
print("leaderboard past its end:", board(2).status_code.value)


def in_state(state, **params):
    return list_runs.sync_detailed(client=tom, filtertask_id=[task], filterstate=[state], **params)


runs, cursor = set(), UNSET
while True:
    page = answered(in_state(ListRunsFilterstateItem.COMPLETED, limit=1, cursor=cursor).parsed)
    runs |= {run.id for run in page.data}
    if not page.links.next_:
        break
    cursor = parse_qs(urlsplit(page.links.next_).query)["cursor"][0]
# The client does not separate two values with a comma, so each value takes its own request.
none = {in_state(state).status_code.value for state in (ListRunsFilterstateItem.FAILED, ListRunsFilterstateItem.CANCELLED)}
print("runs:", len(runs), "on pages of one; failed:", *none)


def evaluate(run, truth, measures):
    body = EvaluatorInput(runs=[run], truth=truth, measures=measures)
    return answered(invoke_evaluator.sync(client=tom, body=body)).runs[0]


ranking = evaluate(
    RunReference(name="mine", files=[InlineFile(name="run.txt", text="1 Q0 pond 1 2.0 tom\n1 Q0 lake 2 1.0 tom\n")]),
    TruthReference(files=[InlineFile(name="qrels.txt", text="1 0 lake 1\n1 0 river 1\n")]),
    ["RR", "AP"],
)
print("tool:", ranking.name, f"{ranking.measures['RR']:.4f} {ranking.per_topic['1']['AP']:.4f}")
constant = evaluate(
    RunReference(files=[InlineFile(name="run.csv", text="id,depth\na,1\nb,1\n")]),
    TruthReference(
        kind=TruthReferenceKind.REGRESSION,
        format_=RunFormat(kind=RunFormatKind.CSV, id_field="id", value_field="depth"),
        files=[InlineFile(name="truth.csv", text="id,depth\na,1\nb,3\n")],
    ),
    ["MAE", "Pearson"],
)
undefined = constant.measures["Pearson"] is None
print("tool:", f"{constant.measures['MAE']:.4f}", "and a value that is not defined" if undefined else "")

problem = refused(delete_submission.sync(task, worse.id, client=tom))
print("deletion of what is published:", problem.status, problem.type_)
print("deletion by organizers:", delete_submission.sync_detailed(task, worse.id, client=olivia).status_code.value)
problem = refused(get_submission.sync(task, worse.id, client=tom))
print("deleted:", problem.status, problem.type_)

for client in (olivia, tom):
    client.get_httpx_client().close()
