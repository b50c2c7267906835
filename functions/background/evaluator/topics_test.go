package evaluator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/evaluation"
)

// TestEvaluate_StoresValuesByExample has few examples, as many as have values with labels that take more room than a record has, and one
// more.
func TestEvaluate_StoresValuesByExample(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("\x01", 1000)
	for _, c := range []struct {
		examples int
		label    string
		inFile   bool
	}{{6, "a", false}, {measure.MaxExamples, long, true}, {measure.MaxExamples + 1, "a", false}} {
		var truth strings.Builder
		truth.WriteString("id,label\n")
		for i := range c.examples {
			fmt.Fprintf(&truth, "%d,%s%d\n", i, c.label, min(i, 39))
		}
		f.Runs = f.Records.Task().Dataset(recordtest.Labels("Accuracy", "MCC"), f.Records.Truths("truth.csv", truth.String()))
		id := f.Add(truth.String()).ID
		f.evaluate(id)
		r := f.GetRun(id)
		e := get[record.EvaluationItem](f, record.EvaluationKey(r.EvaluationID))
		if (e.Reasons[measure.PerTopicReason] != "") != (c.examples > measure.MaxExamples) {
			t.Errorf("%d examples: %v", c.examples, e.Reasons)
		}
		topics := get[record.Topics](f, record.TopicsKey(r.EvaluationID))
		if topics == nil || topics.Classes == nil || len(topics.Classes.Labels) != min(c.examples, 40) || (topics.ObjectKey != "") != c.inFile {
			t.Fatalf("%d examples: %s %v %+v", c.examples, r.State, r.Diagnostics, topics)
		}
		for roles, shown := range map[access.Role]bool{0: false, access.Owner: false, access.Registrant: false, access.Worker: false,
			access.Organizer: true, access.Admin: true} {
			read, err := evaluation.ReadTopics(f.Ctx, f.Files, "classification", roles, topics)
			f.Must(err)
			want := c.examples
			if want > measure.MaxExamples {
				want = 0
			}
			if read.Hidden() == shown || (read.Classes() != nil) != shown || len(read.Of("Accuracy")) != want || len(read.Of("MCC")) > 0 ||
				shown && len(read.Shown()) != want || !shown && read.Shown() != nil {
				t.Errorf("%d examples, for %v: %v", c.examples, roles, read.Hidden())
			}
		}
	}
}

func TestEvaluate_StoresManyTopicsInAFile(t *testing.T) {
	f := newFixture(t)
	var truth, run strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&truth, "topic-with-a-long-name-%d 0 d1 1\n", i)
		fmt.Fprintf(&run, "topic-with-a-long-name-%d Q0 d1 1 1 tag\n", i)
	}
	f.Truth.Files = []record.File{f.Records.File(record.HolderTruths, f.Dataset.ID, "qrels.txt", truth.String())}
	f.Records.Replace(f.Truth)
	id := f.Add(run.String()).ID
	f.evaluate(id)
	topics := get[record.Topics](f, record.TopicsKey(f.GetRun(id).EvaluationID))
	if topics == nil || topics.ObjectKey == "" || topics.PerTopic != nil {
		t.Fatalf("%+v", topics)
	}
	read, err := evaluation.ReadTopics(f.Ctx, f.Files, "retrieval", 0, topics)
	f.Must(err)
	perTopic := read.Shown()
	if len(perTopic) != 6000 || perTopic["topic-with-a-long-name-0"]["AP"] != 1 {
		t.Fatal(len(perTopic))
	}
	f.Wait(72 * time.Hour)
	f.pending.Store = f.Store
	f.pending.Files = f.Files
	_, err = f.pending.DeleteAbandonedFiles(f.Ctx, "")
	f.Must(err)
	if _, err := f.Files.Stat(f.Ctx, topics.ObjectKey); err != nil {
		t.Fatal(err)
	}
}
