// Package submissions serves the entries of registered users.
//
// A submission is one entry: an upload of run files, a container image, or a repository. It is recorded with one run for
// each dataset it names, with their reviews and what it uses of the quota, in one transaction, and nothing is evaluated
// before the answer. An inline file that cannot be read is refused with every fault it has, and then nothing is recorded.
package submissions

import (
	"encoding/base64"
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/files"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
)

var task = api.Load[record.TaskItem]("taskId", record.TaskKey)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listSubmissions", Path: "/v1/tasks/{taskId}/submissions", May: access.Anyone,
		Summary:     "List submissions to a task",
		Description: "The public ones; users also see their own, and organizers all of them. The newest first.",
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
		Description: "Needs an accepted registration; organizers submit baselines (`baseline`) without one, at any time and beyond the quotas " +
			"of the task. Files come with their `content`, up to 3 MiB together, or without, and then the answer says where to upload them. All " +
			"must have arrived within 24 hours, but each link works for " + files.LinkLife + " only, until its `expiresAt`: get the submission " +
			"again for new links. The answer carries what is left of the quota. Beyond the quotas that `/info` lists for each user, which count " +
			"runs by day and the bytes of files, the answer is 429 or 403, and nothing is recorded. A dataset whose truth was announced but has " +
			"not arrived, or is being read, takes submissions: their runs wait for it, for a day at most.\n\nAn upload is answered with 412 when " +
			"the file is there already: a client that repeats one because it got no answer takes that for success.",
		Example: example,
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
		Description: "Title, description, paper and visibility can change; organizers can mark it as a baseline. What was submitted stays as " +
			"it is.",
	}, submission, show, change),
	api.Delete(api.Spec{
		ID: "deleteSubmission", Path: "/v1/tasks/{taskId}/submissions/{submissionId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Delete a submission",
		Description: "With its runs, reviews, evaluations and files. What it used of the quota stays used. Once a review is published, or " +
			"the window of a dataset with `finalRuns` has closed, only organizers can delete it. " + api.InTrash,
		Problems: []*problem.Kind{problem.OutsideWindow},
	}, submission, remove),
}

// example is an upload of a run of retrieval that can be submitted as it is, with a dataset of the task.
var example = map[string]any{
	"type": record.UploadType, "title": "BM25", "visibility": record.Public,
	"files": []any{map[string]any{
		"datasetId": "01JZ3V7Q0D8T5RZ0S6R1W9C4XK", "name": "run.txt",
		"content": base64.StdEncoding.EncodeToString([]byte("1 Q0 baikal 1 12.5 bm25\n1 Q0 ladoga 2 9.1 bm25\n")),
	}},
}
