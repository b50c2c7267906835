package registrations_test

import (
	"slices"
	"testing"
	"time"

	"assay/shared/domain/record"
)

// TestQuota_NamesTypesThatNoWorkerServes asks for the quota of a team before and after workers of a pool were seen.
func TestQuota_NamesTypesThatNoWorkerServes(t *testing.T) {
	f := serve(t, func(t *record.TaskItem) { t.Submissions.Types = nil })
	r := f.task.Register("ada")
	builtin := f.task.Dataset().ID
	builds := f.task.Dataset(func(d *record.DatasetItem) { d.Builds = true }).ID
	byWorker := f.task.Dataset(func(d *record.DatasetItem) { d.Evaluator.Kind = record.EvaluatorWorker }).ID
	want := func(when string, of map[string][]record.SubmissionType) {
		t.Helper()
		for id, q := range f.quotas("ada", r) {
			if !slices.Equal(q.UnservedTypes, of[id]) {
				t.Errorf("%s: %v, want %v", when, q.UnservedTypes, of[id])
			}
		}
	}
	want("without workers", map[string][]record.SubmissionType{
		builtin: {record.ImageType}, builds: {record.ImageType, record.RepositoryType}, byWorker: {record.UploadType, record.ImageType},
	})
	serving := new(record.Serving)
	serving.Note(time.Now(), []record.Subqueue{record.WorkerSubqueue("", record.ExecuteImage)})
	f.Records().Put(serving)
	want("with a worker for images", map[string][]record.SubmissionType{
		builds: {record.RepositoryType}, byWorker: {record.UploadType, record.ImageType},
	})
}
