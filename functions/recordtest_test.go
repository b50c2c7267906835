package functions_test

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"sync"
	"testing"

	"assay/functions"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// lastWrites remembers the last form of each written item.
type lastWrites struct {
	store.Store
	mu    sync.Mutex
	items map[store.Key]store.Item
}

func (s *lastWrites) Write(ctx context.Context, writes ...store.Write) error {
	err := s.Store.Write(ctx, writes...)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range writes {
		if err == nil && len(w.Item.Data) > 0 {
			s.items[w.Item.Key] = w.Item
		}
	}
	return err
}

var (
	anyID      = regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{26}|anonymous-[0-9a-z]{16}`)
	anyInstant = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)
	anySecret  = regexp.MustCompile(`"Secret":"[^"]*"`)
	pending    = regexp.MustCompile(`"pendingWork":{[^}]*},`) // the background worker removes it
)

// forms returns the items by key. It replaces ids, instants and secrets by fixed texts.
func (s *lastWrites) forms(t *testing.T) map[string]string {
	t.Helper()
	forms := map[string]string{}
	for key, item := range s.items {
		var sorted any // sorts the members
		if err := json.Unmarshal(item.Data, &sorted); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(sorted)
		if err != nil {
			t.Fatal(err)
		}
		form := pending.ReplaceAllString(anySecret.ReplaceAllString(anyInstant.ReplaceAllString(string(text), "T"), "S"), "")
		forms[anyID.ReplaceAllString(key.Partition+" "+key.Sort, "ID")] = anyID.ReplaceAllString(form, "ID")
	}
	return forms
}

func TestRecordtest_StoresWhatRequestsStore(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	requested := &lastWrites{Store: s.Store, items: map[store.Key]store.Item{}}
	s.Store = requested
	organizer := s.Create("olga", "/v1/organizers", map[string]any{"name": "Organizer"})
	task := s.Create("olga", "/v1/tasks", map[string]any{"organizerId": organizer[len("/v1/organizers/"):], "name": "Task"})
	dataset := s.Create("olga", "/v1/datasets", map[string]any{
		"taskId": task[len("/v1/tasks/"):], "name": "Dataset", "split": "validation", "runFormat": map[string]any{"kind": "trec-run"},
		"truths": []any{servertest.Inline("qrels.txt", "q1 0 d1 1\n")}, "evaluator": map[string]any{
			"kind": "retrieval", "measures": []string{"AP", "RR"}},
	})
	s.Create("ann", task+"/registrations", map[string]any{"team": recordtest.Team("ann")})
	upload := servertest.Upload(servertest.ID(dataset), servertest.Inline("run.txt", "q1 Q0 d1 1 1.0 tag\n"))
	upload["visibility"] = "public"
	s.Create("ann", task+"/submissions", upload)

	built := &lastWrites{Store: recordtest.OpenStore(t, embedded.Options{}), items: map[store.Key]store.Item{}}
	b := recordtest.New(t, built)
	builtTask := b.Task()
	builtTask.Register("ann")
	reported := func(d *record.DatasetItem) {
		d.TruthReport = &record.TruthReport{Contents: "1 topic, 1 judgment, 1 relevant"}
	}
	builtTask.Dataset(b.Truths("qrels.txt", "q1 0 d1 1\n"), reported).Run("ann", recordtest.Public, recordtest.Queued,
		recordtest.Content("run.txt", "q1 Q0 d1 1 1.0 tag\n"))

	want, got := requested.forms(t), built.forms(t)
	if len(got) < 9 {
		t.Fatalf("only %d items are compared: %v", len(got), slices.Sorted(maps.Keys(got)))
	}
	for key, form := range got {
		if form != want[key] {
			t.Errorf("%s:\n built     %s\n requested %s", key, form, want[key])
		}
	}
}
