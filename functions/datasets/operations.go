// Package datasets serves the data of tasks: inputs that participants get, truth that they never get, and how runs are
// read and measured.
//
// Callers who see the task of a dataset see the dataset, except truth files and their diagnostics, which are for
// organizers, and for workers, who evaluate with them. The organizer can make the truth files of a training split public: users
// who get the inputs then get them too, as long as they are what the dataset names; an earlier truth, and the secret that keys the
// digests of all of them, stay hidden. What was public cannot be hidden again, so a split for training does not become one for
// tests with the same truth. Runs are evaluated with a Truth of its own, which changes only as a
// whole: when every truth file is stored and can be read. Each such change is a new truthVersion, against which every run
// is evaluated again. Leaderboards and lists of evaluations show the results against the version before until no run that
// was evaluated before waits for the new one, or an organizer releases it; lists without sort follow within seconds.
package datasets

import (
	"encoding/base64"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/files"
	"assay/shared/page"
	"assay/shared/record"
)

var dataset = api.Load[record.DatasetItem]("datasetId", record.DatasetKey)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listDatasets", Path: "/v1/datasets", May: access.Anyone,
		Summary:     "List datasets",
		Description: "All datasets that the caller may see, the newest first. Only a single dataset has links to its files.",
		Query:       page.Spec{Filters: []page.Filter{{Name: "taskId", Type: page.ID}, {Name: "split", Type: page.Enum}, {Name: "name"}}},
	}, api.NoTarget, list, nil),
	api.CreateIn(api.Spec{
		ID: "createDataset", Path: "/v1/datasets", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Create a dataset",
		Description: "The caller must be a member of the organizer of the task that `taskId` names. Files come with their `content`, up to 3 " +
			"MiB together, or without, and then the answer says where to upload them; a link works for " + files.LinkLife + ", until its " +
			"`expiresAt`, and the dataset, when it is asked for again, has a new one. A truth that the evaluator cannot read is refused with " +
			"every fault it has. All files of a dataset count as stored by the user who added the last one, until they are removed; beyond the " +
			"quotas that `/info` lists the answer is 429 or 403. An upload is answered with 412 when the file is there already, which is as good " +
			"as success.",
		Example: example,
	}, "/taskId", task, create),
	api.Get(api.Spec{
		ID: "getDataset", Path: "/v1/datasets/{datasetId}", May: access.Anyone,
		Summary: "Return a dataset",
		Description: "With links to its input files, which work for " + files.LinkLife +
			". With `inputsFor` as registrants, all but organizers, workers and accepted registrants, whose team has accepted the task's present " +
			"terms, find no inputs. Organizers and workers also see the truth files; with `truthsPublic`, everyone who gets the inputs does.",
	}, dataset, show),
	api.Patch(api.Spec{
		ID: "updateDataset", Path: "/v1/datasets/{datasetId}", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Update a dataset",
		Description: "Everything but `taskId` can change. A change of truth, evaluator or run format makes a new `truthVersion` and has every " +
			"run evaluated again. `idsPublic` and `labelsPublic` say what participants may learn of the truth while their runs are blinded: which " +
			"topics or items of it, or which labels, their runs lack or it does not have. Without them teams with blinded runs learn only what " +
			"the files alone and the ids in `inputs` show; organizers find the rest in the review of each run. Until none of them waits any more (a " +
			"run that failed does not), leaderboards and lists show the results against `boardVersion`, which is the truth before; `reevaluation` " +
			"says how far the new one has come. To show it earlier, set `boardVersion` to `truthVersion`. Files that stay are named as they were " +
			"shown; new ones are given as on creation. A file that was replaced counts as stored for up to three days more, until it is deleted.",
	}, dataset, showChanged, change),
	api.Delete(api.Spec{
		ID: "deleteDataset", Path: "/v1/datasets/{datasetId}", May: access.Organizer,
		Token:       access.ScopeOrganize,
		Summary:     "Delete a dataset",
		Description: "With its files. Refused with 409 while runs use it. " + api.InTrash,
	}, dataset, remove),
}

// example is a dataset of retrieval that can be created as it is, with a task of the caller's.
var example = map[string]any{
	"taskId": "01JZ3V7Q0D8T5RZ0S6R1W9C4XK", "name": "Lakes", "split": record.Test,
	"inputs":    []any{file("queries.tsv", "text/tab-separated-values", "1\tdeepest lake\n")},
	"truths":    []any{file("qrels.txt", "text/plain", "1 0 baikal 2\n1 0 ladoga 0\n")},
	"runFormat": map[string]any{"kind": "trec-run"},
	"evaluator": map[string]any{"kind": "retrieval", "measures": []any{"nDCG@10", "AP"}, "primaryMeasure": "nDCG@10"},
}

func file(name, mediaType, content string) map[string]any {
	return map[string]any{"name": name, "mediaType": mediaType, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}
