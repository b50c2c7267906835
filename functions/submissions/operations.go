// Package submissions serves the submissions of teams to tasks.
//
// A submission is an upload of run files, a container image, or a repository. One transaction records the submission, a run and a review
// for each dataset that it names, and the used quota. Runs are evaluated after the answer. If an inline file cannot be read, the answer
// names every fault of the file, and nothing is recorded.
package submissions

import (
	"encoding/base64"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/files"
)

var task = api.Load[record.TaskItem]("taskId", record.TaskKey)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listSubmissions", Path: "/v1/tasks/{taskId}/submissions", May: access.Anyone,
		Summary:     "List submissions to a task",
		Description: "All public submissions, the newest first. Users also see their own, and organizers see all.",
		Query: page.Spec{Filters: []page.Filter{
			{Name: "datasetId", Type: page.ID},
			{Name: "userId", Type: page.ID},
			{Name: "visibility", Type: page.Enum},
			{Name: "type", Type: page.Enum},
		}},
	}, task, list, nil),
	api.Create(api.Spec{
		ID: "createSubmission", Path: "/v1/tasks/{taskId}/submissions", May: access.User,
		Token:    access.ScopeSubmit | access.ScopeOrganize,
		Problems: slices.Concat(api.Quotas, []*problem.Kind{problem.OutsideWindow}),
		Summary:  "Submit to a task",
		Description: "Needs an accepted registration. Organizers submit baselines (`baseline`) without a registration, at any time and beyond " +
			"the quotas of the task. Files have their `content` in the request, up to 3 MiB together. For files without `content`, the answer has " +
			"links to upload them. All files must arrive within 24 hours. Each link works for " + files.LinkLife + ", until its `expiresAt`; get " +
			"the submission again for new links. `quota` of the answer is the rest of the team's quota. `/info` lists quotas for each user, which " +
			"count runs by day and the bytes of files. Beyond them, the answer is 429 or 403, and nothing is recorded. A dataset takes " +
			"submissions before its announced truth has arrived and has been read; runs wait for the truth for at most a day.\n\n" +
			"A request with the same members and bytes as an earlier submission of the team is answered with 200 and that submission, as long " +
			"as its runs wait, are under way or are completed for the current truths. It is not charged. So a client that was interrupted " +
			"repeats its request. `again` makes a new submission. The name of an image counts, not what a tag points to.\n\n" +
			"An upload of a file that is stored already is answered with 412. A client that repeats an upload because it got no answer takes " +
			"this for success.",
		Repeated: "The team has submitted the same before: its submission, with the links for files that are missing",
		Example:  example,
	}, startAdmission, create),
	api.Get(api.Spec{
		ID: "getSubmission", Path: "/v1/tasks/{taskId}/submissions/{submissionId}", May: access.Anyone,
		Summary:     "Return a submission",
		Description: "Its team and the organizers also see its files.",
	}, submission, show),
	api.Patch(api.Spec{
		ID: "updateSubmission", Path: "/v1/tasks/{taskId}/submissions/{submissionId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Update a submission",
		Description: "Title, description, notes, paper and visibility can change. Organizers can mark the submission as a baseline. Files, " +
			"images and repositories never change.",
	}, submission, show, change),
	api.Delete(api.Spec{
		ID: "deleteSubmission", Path: "/v1/tasks/{taskId}/submissions/{submissionId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Delete a submission",
		Description: "With its runs, reviews, evaluations and files. Its runs still count in the quota. Once a review is published, or the " +
			"window of a dataset with `finalRuns` has closed, only organizers can delete it. After such a close, only they can restore " +
			"it, too. " + api.InTrash,
		Problems: []*problem.Kind{problem.OutsideWindow},
	}, submission, remove),
}

// example is an upload of a retrieval run. A client can submit it after it has set datasetId.
var example = map[string]any{
	"type": record.UploadType, "title": "BM25", "visibility": record.Public,
	"files": []any{map[string]any{
		"datasetId": "01JZ3V7Q0D8T5RZ0S6R1W9C4XK", "name": "run.txt",
		"content": base64.StdEncoding.EncodeToString([]byte("1 Q0 baikal 1 12.5 bm25\n1 Q0 ladoga 2 9.1 bm25\n")),
	}},
}
