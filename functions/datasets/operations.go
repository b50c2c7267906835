// Package datasets serves the data of tasks: the inputs for participants, the ground truth (qrels, labels), the run format and the
// evaluator.
//
// Callers who see a task see its datasets. Truth files and their diagnostics are only for organizers, and for workers, which evaluate with
// them. Organizers can make the truth files of a training split public. Then users who get the inputs also get the truth files that the
// dataset names now. Earlier truth files stay hidden, and so does the secret that keys the digests of all truth files. Public truth files
// cannot become hidden again, so a training split with public truth cannot become a test split with the same truth.
//
// Runs are evaluated against a [record.Truth]. It changes only as a whole, when all truth files are stored and readable. Each change makes
// a new truthVersion, and every run is evaluated again. Leaderboards and lists of evaluations show the results against the earlier version
// until every run has been evaluated, or until an organizer releases the new version. Lists without sort show it some seconds later.
package datasets

import (
	"encoding/base64"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/files"
)

var dataset = api.Load[record.DatasetItem]("datasetId", record.DatasetKey)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listDatasets", Path: "/v1/datasets", May: access.Anyone,
		Summary:     "List datasets",
		Description: "All datasets that the caller may see, the newest first. Links to files are only in the answer of `getDataset`.",
		Query:       page.Spec{Filters: []page.Filter{{Name: "taskId", Type: page.ID}, {Name: "split", Type: page.Enum}, {Name: "name"}}},
	}, api.NoTarget, list, nil),
	api.CreateIn(api.Spec{
		ID: "createDataset", Path: "/v1/datasets", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Create a dataset",
		Description: "The caller must be a member of the organizer of the task that `taskId` names. Files have their `content` in the request, " +
			"up to 3 MiB together. For files without `content`, the answer has links to upload them. A link works for " + files.LinkLife +
			", until its `expiresAt`; `getDataset` returns new links. If the evaluator cannot read the truth, the answer names every fault. All " +
			"files of a dataset count as stored by the user who added a file last, until they are removed. Beyond the quotas that `/info` lists, " +
			"the answer is 429 or 403. An upload of a file that is stored already is answered with 412; take it for success.",
		Example: example,
	}, "/taskId", task, create),
	api.Get(api.Spec{
		ID: "getDataset", Path: "/v1/datasets/{datasetId}", May: access.Anyone,
		Summary: "Return a dataset",
		Description: "With links to its input files, which work for " + files.LinkLife +
			". If `inputsFor` is `registrants`, only organizers, workers and accepted registrants find inputs, and registrants only once their " +
			"team has accepted the current terms of the task. Organizers and workers also see the truth files. With `truthsPublic`, everyone who " +
			"gets the inputs sees them.",
	}, dataset, show),
	api.Patch(api.Spec{
		ID: "updateDataset", Path: "/v1/datasets/{datasetId}", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Update a dataset",
		Description: "Everything except `taskId` can change. A change of truth, evaluator or run format makes a new `truthVersion`, and every " +
			"run is evaluated again. Until no run waits for the new version, leaderboards and lists show the results against the version before, " +
			"`boardVersion`. Failed runs do not wait. `reevaluation` shows the progress. To show the new results earlier, set `boardVersion` to " +
			"`truthVersion`. `idsPublic` lets teams that do not see the values of a run learn which topics or items it lacks, or has in " +
			"addition to the truth; `labelsPublic` does the same for labels. Otherwise these teams learn only what their files and the ids in `inputs` show, and " +
			"organizers find the rest in the review of each run. Send back files that stay as you got them, and new files as in " +
			"`createDataset`. A replaced file counts as stored for up to three more days, until it is deleted.",
	}, dataset, showWithLinks, change),
	api.Delete(api.Spec{
		ID: "deleteDataset", Path: "/v1/datasets/{datasetId}", May: access.Organizer,
		Token:       access.ScopeOrganize,
		Summary:     "Delete a dataset",
		Description: "With its files. The answer is 409 while runs use it. " + api.InTrash,
	}, dataset, remove),
}

// example is a retrieval dataset. A client can create it after it has set taskId.
var example = map[string]any{
	"taskId": "01JZ3V7Q0D8T5RZ0S6R1W9C4XK", "name": "Lakes", "split": record.Test,
	"inputs":    []any{file("queries.tsv", "text/tab-separated-values", "1\tdeepest lake\n")},
	"truths":    []any{file("qrels.txt", "text/plain", "1 0 baikal 2\n1 0 ladoga 0\n")},
	"runFormat": map[string]any{"kind": "trec-run"},
	"evaluator": map[string]any{"kind": "retrieval", "measures": []any{"nDCG@10", "AP"}},
}

func file(name, mediaType, content string) map[string]any {
	return map[string]any{"name": name, "mediaType": mediaType, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}
