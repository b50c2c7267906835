package datasets_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

func TestShow_HasTheTruthForOrganizersAndWorkersAlone(t *testing.T) {
	s, path, d := serveDataset(t)
	if d.TruthVersion != 1 || len(d.Truths) != 1 || d.Primary().Key != "Accuracy" {
		t.Fatalf("%+v", d)
	}
	for user, sees := range map[string]bool{"": false, "ada": false, "reg": false, "robot": true, "olga": true, "root": true} {
		for _, p := range []string{path, "/v1/datasets", path + "?fields=truths,diagnostics,name"} {
			a := s.Want(http.StatusOK, nil, user, http.MethodGet, p, nil)
			if got := strings.Contains(string(a.Body), "truth.csv") || strings.Contains(string(a.Body), servertest.Digest(goodTruth)); got != sees {
				t.Errorf("%q sees the truth at %s: %v\n%s", user, p, got, a.Body)
			}
		}
		got := s.get(user, path)
		if a := s.Want(http.StatusOK, nil, "", http.MethodGet, got.Inputs[0].URL, nil); string(a.Body) != "1\n2\n" {
			t.Errorf("%q gets %q for the input", user, a.Body)
		}
		if sees {
			if a := s.Want(http.StatusOK, nil, "", http.MethodGet, got.Truths[0].URL, nil); string(a.Body) != goodTruth {
				t.Errorf("%q gets %q for the truth", user, a.Body)
			}
		}
	}
}

func TestShow_WithLinksStaysNotModified(t *testing.T) {
	s := serve(t)
	draft := s.draft(servertest.Inline("truth.csv", goodTruth))
	draft["inputs"] = []any{servertest.Inline("input.txt", "1\n2\n"), servertest.Announced("more.txt", "3\n")}
	path, _ := s.create(draft)
	now := time.Now().Truncate(15 * time.Minute)
	for _, user := range []string{"", "olga"} {
		s.Now = func() time.Time { return now }
		tag := s.Want(http.StatusOK, nil, user, http.MethodGet, path, nil).Header.Get("ETag")
		s.Now = func() time.Time { return now.Add(14 * time.Minute) }
		s.Want(http.StatusNotModified, nil, user, http.MethodGet, path, nil, "If-None-Match", tag)
	}
}

func TestCreate_NamesEachFault(t *testing.T) {
	s := serve(t)
	with := func(member string, value any) map[string]any {
		d := s.draft(servertest.Inline("truth.csv", goodTruth))
		d[member] = value
		return d
	}
	evaluator := func(kind string, measures ...string) map[string]any {
		return with("evaluator", map[string]any{"kind": kind, "measures": measures})
	}
	large := func(name string, size int) map[string]any {
		return map[string]any{"name": name, "size": size, "sha256": servertest.Digest(name)}
	}
	damaged := servertest.Inline("truth.csv", goodTruth)
	damaged["sha256"], damaged["size"] = servertest.Digest("else"), 1
	for name, tt := range map[string]struct {
		draft map[string]any
		want  []string // pointers, each with the beginning of its detail
	}{
		"truth": {s.draft(servertest.Inline("good.csv", goodTruth+"3,cat\n"), servertest.Inline("bad.csv", badTruth)), []string{
			"/truths/1 lines 2 and 3: ", "/truths/1 line 4: "}},
		"no truth": {with("truths", []any{}), []string{"/truths must have"}},
		"two large truths": {with("truths", []any{large("a", 1<<30), large("b", 1)}), []string{
			"/truths has 1073741825 bytes, and built-in evaluators read at most 1073741824 bytes"}},
		"measure": {evaluator("classification", "nDCG@10"), []string{"/evaluator/measures/0 "}},
		"two measures": {evaluator("classification", "Accuracy", "Nonsense", "Worse"), []string{
			"/evaluator/measures/1 ", "/evaluator/measures/2 "}},
		"format": {evaluator("retrieval", "AP"), []string{"/runFormat/kind "}},
		"fields": {with("runFormat", map[string]any{"kind": "csv", "idField": "id"}), []string{"/runFormat/valueField is needed"}},
		"image":  {evaluator("worker", "Score"), []string{"/evaluator/image is needed"}},
		"columns": {
			with("columns", []any{map[string]any{"key": "Accuracy"}, map[string]any{"key": "Accuracy"}, map[string]any{"key": "AP", "title": "a\nb"},
				map[string]any{"key": "Accuracy", "lowerIsBetter": true}}),
			[]string{"/columns/1/key \"Accuracy\" has a column already, /columns/0: leave one of the two out",
				"/columns/2/key \"AP\" is none of the measures", "/columns/2/title must be one line", "/columns/3/key ",
				"/columns/3/lowerIsBetter is false for Accuracy: leave it out"},
		},
		"damaged": {s.draft(damaged), []string{"/truths/0/sha256 the content has", "/truths/0/size the content has"}},
		"folder":  {s.draft(servertest.Inline("a/b.csv", goodTruth)), []string{"/truths/0/name must be"}},
		"media type": {with("inputs", []any{map[string]any{"name": "a", "content": "YQ==", "mediaType": "text"}}), []string{
			"/inputs/0/mediaType must be"}},
		"twice": {with("inputs", []any{servertest.Inline("a", "x"), servertest.Inline("a", "x")}), []string{
			"/inputs/1/name is the name", "/inputs/1/sha256 is the content"}},
		"neither":          {with("inputs", []any{map[string]any{"name": "a"}}), []string{"/inputs/0 is empty"}},
		"no base64":        {with("inputs", []any{map[string]any{"name": "a", "content": "%"}}), []string{"/inputs/0/content must be base64"}},
		"unknown task":     {with("taskId", record.NewID(s.Now())), []string{"/taskId names nothing"}},
		"read-only member": {with("truthVersion", 3), []string{"/truthVersion "}},
	} {
		got := s.pointers(http.MethodPost, "/v1/datasets", tt.draft)
		for _, want := range tt.want {
			pointer, detail, _ := strings.Cut(want, " ")
			if !slices.ContainsFunc(got[pointer], func(d string) bool { return strings.HasPrefix(d, detail) }) {
				t.Errorf("%s: nothing at %s that begins with %q: %q", name, pointer, detail, got)
			}
		}
	}
	s.Want(http.StatusNoContent, nil, "olga", http.MethodGet, "/v1/datasets", nil)
	if n := s.FileCount(); n != 0 {
		t.Errorf("%d files stay of what was refused", n)
	}
}

func TestCreate_BoundsInlineFilesTogether(t *testing.T) {
	s := serve(t)
	half := strings.Repeat("x", record.MaxInlineBytes/2+1)
	d := s.draft(servertest.Inline("truth.csv", goodTruth))
	d["inputs"] = []any{servertest.Inline("a", half), servertest.Inline("b", half+"x")}
	a := s.Want(http.StatusRequestEntityTooLarge, nil, "olga", http.MethodPost, "/v1/datasets", d)
	if !strings.Contains(string(a.Body), "sha256") {
		t.Errorf("the problem does not say what to do: %s", a.Body)
	}
}

func TestList_HasWhatTheCallerMaySeeAndAskedFor(t *testing.T) {
	s := serve(t)
	hidden := newFixture(t, s.Server, recordtest.Private)
	shown := s.draft(servertest.Inline("t", goodTruth))
	secret := hidden.draft(servertest.Inline("t", goodTruth))
	shown["name"], shown["split"] = "Birds", "training"
	_, birds := s.create(shown)
	_, cats := s.create(s.draft(servertest.Inline("t", goodTruth)))
	_, dark := hidden.create(secret)
	for _, tt := range []struct {
		user, query string
		want        []string
	}{
		{"", "", []string{cats.ID, birds.ID}},
		{"ada", "", []string{cats.ID, birds.ID}},
		{"reg", "", []string{dark.ID, cats.ID, birds.ID}},
		{"olga", "", []string{dark.ID, cats.ID, birds.ID}},
		{"root", "", []string{dark.ID, cats.ID, birds.ID}},
		{"", "filter[split]=training", []string{birds.ID}},
		{"", "filter[split]=training,test", []string{cats.ID, birds.ID}},
		{"", "filter[name]=BIRD", []string{birds.ID}},
		{"", "filter[name]=fish", nil},
		{"", "filter[taskId]=" + s.task.ID, []string{cats.ID, birds.ID}},
		{"", "filter[taskId]=" + hidden.task.ID, nil},
		{"ada", "filter[taskId]=" + hidden.task.ID + "," + s.task.ID, []string{cats.ID, birds.ID}},
		{"reg", "filter[taskId]=" + hidden.task.ID, []string{dark.ID}},
		{"olga", "filter[taskId]=" + hidden.task.ID + "&filter[name]=cats", []string{dark.ID}},
		{"reg", "filter[taskId]=" + record.NewID(s.Now()), nil},
	} {
		var got []string
		for _, d := range servertest.List[record.Dataset](s.Server, tt.user, "/v1/datasets?"+tt.query) {
			got = append(got, d.ID)
			if d.Inputs[0].URL != "" {
				t.Errorf("%q: a list has links to files", tt.user)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q asks %q: %v, want %v", tt.user, tt.query, got, tt.want)
		}
	}
	s.Want(http.StatusBadRequest, nil, "", http.MethodGet, "/v1/datasets?filter[split]=dev", nil)
}

func TestCreate_BoundsDatasetsOfATask(t *testing.T) {
	s := serve(t)
	for range record.MaxTaskDatasets {
		s.task.Dataset()
	}
	a := s.Want(http.StatusConflict, nil, "olga", http.MethodPost, "/v1/datasets", s.draft(servertest.Inline("t", goodTruth)))
	if !strings.Contains(string(a.Body), fmt.Sprint(record.MaxTaskDatasets)) {
		t.Errorf("%s", a.Body)
	}
}

func TestRemove_DeletesUnlessRunsUseIt(t *testing.T) {
	s, path, d := serveDataset(t)
	for _, attributes := range []record.AccessAttributes{{}, {Public: true}, {Public: true, PrivateTask: true}} {
		run := &record.RunItem{Access: attributes}
		run.Meta = record.NewMeta(s.Now())
		run.TaskID = s.task.ID
		run.DatasetID = d.ID
		run.State = record.Queued
		run.QueuedAt = new(record.At(s.Now()))
		s.Records().Put(run)
		s.Want(http.StatusConflict, nil, "olga", http.MethodDelete, path, nil)
		s.Records().Commit(new(records.Tx).Delete(run))
	}
	s.Want(http.StatusForbidden, nil, "ada", http.MethodDelete, path, nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
	s.Want(http.StatusNotFound, nil, "olga", http.MethodGet, path, nil)
	if s.truth(d.ID) != nil || s.FileCount() == 0 { // Files stay while the dataset can be restored.
		t.Errorf("the truth is %v, and %d files are there", s.truth(d.ID), s.FileCount())
	}
	if e := s.entries(); len(e) != 2 || e[0].Action != "dataset.deleted" || e[0].ActorID != recordtest.UserID("olga") {
		t.Errorf("%+v", e)
	}
}

// Making ids and labels public shows this to everyone, makes no new truth version, and is audited. Only classification has labels.
func TestDataset_DeclaresWhatIsPublic(t *testing.T) {
	s, path, d := serveDataset(t)
	got := s.patch(http.StatusOK, path, map[string]any{"idsPublic": true, "labelsPublic": true})
	if !got.IDsPublic || !got.LabelsPublic || got.TruthVersion != d.TruthVersion || !s.get("ada", path).IDsPublic {
		t.Errorf("%+v", got)
	}
	if last := s.entries()[0]; last.Action != record.DatasetChanged {
		t.Errorf("%+v", last)
	}
	for _, evaluator := range []map[string]any{
		{"kind": "regression", "measures": []string{"MAE"}}, {"kind": "worker", "measures": []string{"x"}, "image": "example.org/evaluator"}} {
		s.patch(http.StatusUnprocessableEntity, path, map[string]any{"evaluator": evaluator})
	}
}

// A merge patch keeps members that only the old kind of evaluator has, and the problem says how to remove them.
func TestDataset_ChangesItsKindByNull(t *testing.T) {
	s := serve(t)
	own := s.draft(servertest.Inline("truth.csv", goodTruth))
	own["evaluator"] = map[string]any{"kind": "worker", "measures": []string{"x"}, "image": "example.org/evaluator", "command": "run"}
	path, _ := s.create(own)
	change := func(body map[string]any, pointers ...string) {
		t.Helper()
		found := s.pointers(http.MethodPatch, path, body)
		for _, p := range pointers {
			if !strings.Contains(strings.Join(found[p], " "), "unless it sets it to null") {
				t.Errorf("%s: %v", p, found)
			}
		}
	}
	change(map[string]any{"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy"}}},
		"/evaluator/image", "/evaluator/command")
	removed := map[string]any{"kind": "classification", "measures": []string{"Accuracy"}, "image": nil, "command": nil}
	s.patch(http.StatusOK, path, map[string]any{"labelsPublic": true, "idsPublic": true, "evaluator": removed})
	ranked := map[string]any{"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
		"runFormat": map[string]any{"kind": "trec-run"}}
	change(ranked, "/labelsPublic")
	ranked["labelsPublic"] = nil
	change(ranked, "/runFormat/idField", "/runFormat/valueField")
	worker := map[string]any{"kind": "worker", "measures": []string{"x"}, "image": "example.org/evaluator"}
	change(map[string]any{"evaluator": worker}, "/labelsPublic", "/idsPublic")
	s.patch(http.StatusOK, path, map[string]any{"labelsPublic": nil, "idsPublic": nil, "evaluator": worker})
}

func TestCreate_CanonicalizesNamesOfMeasures(t *testing.T) {
	s := serve(t)
	draft := s.draft(servertest.Inline("qrels.txt", "q1 0 d1 1\n"))
	draft["runFormat"] = map[string]any{"kind": "trec-run"}
	draft["evaluator"] = map[string]any{"kind": "retrieval", "measures": []string{"MAP", "NDCG@010"}}
	draft["columns"] = []any{map[string]any{"key": "NDCG@10"}}
	path, d := s.create(draft)
	if !slices.Equal(d.Evaluator.Measures, []string{"AP", "nDCG@10"}) || columnKeys(d) != "nDCG@10 AP" {
		t.Errorf("%+v", d)
	}
	again := s.patch(http.StatusOK, path, map[string]any{"evaluator": map[string]any{"measures": []string{"AP", "NDCG@10"}}})
	if again.TruthVersion != 1 {
		t.Errorf("another name of the same measure makes the version %d", again.TruthVersion)
	}
}

func TestCreate_ChecksNoTruthOfAWorkerEvaluator(t *testing.T) {
	s := serve(t)
	draft := s.draft(servertest.Inline("anything.bin", badTruth))
	draft["evaluator"] = map[string]any{"kind": "worker", "measures": []string{"Beauty"}, "image": "judge:1", "command": "judge"}
	path, d := s.create(draft)
	if d.TruthVersion != 1 || d.Primary().Key != "Beauty" {
		t.Errorf("%+v", d)
	}
	if got := s.patch(http.StatusOK, path, map[string]any{
		"truths": []any{}, "evaluator": map[string]any{"command": "judge -v"}}); got.TruthVersion != 2 {
		t.Errorf("%+v", got)
	}
	builtin := map[string]any{
		"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy"}, "image": nil,
			"command": nil}}
	if got := s.pointers(http.MethodPatch, path, builtin); len(got["/truths"]) == 0 {
		t.Errorf("%v", got)
	}
}

// columnKeys returns the keys of the columns of a dataset, in order.
func columnKeys(d record.Dataset) string {
	return strings.Join(lists.Map(d.Columns, func(c record.Column) string { return c.Key }), " ")
}

// TestColumns_ReachRunsOnlyIfTheirRulesChange: how columns look concerns no run, but who sees them does.
func TestColumns_ReachRunsOnlyIfTheirRulesChange(t *testing.T) {
	s, path, d := serveDataset(t)
	for _, c := range []struct {
		column map[string]any
		copies bool
	}{
		{map[string]any{"title": "Right answers", "decimals": 2}, false},
		{map[string]any{"title": "Right answers", "audience": "team"}, true},
		{map[string]any{"title": "Correct", "audience": "team"}, false},
		{map[string]any{"from": "2030-01-01T00:00:00Z"}, true},
		{map[string]any{}, true},
	} {
		before, err := records.Get[record.Embargo](t.Context(), s.Store, store.Strong, record.EmbargoKey(d.TaskID))
		if err != nil {
			t.Fatal(err)
		}
		c.column["key"] = "Accuracy"
		columns := []any{c.column}
		for _, name := range d.Evaluator.Measures[1:] {
			columns = append(columns, map[string]any{"key": name})
		}
		s.patch(http.StatusOK, path, map[string]any{"columns": columns})
		after, err := records.Get[record.Embargo](t.Context(), s.Store, store.Strong, record.EmbargoKey(d.TaskID))
		if err != nil || reflect.DeepEqual(before, after) == c.copies {
			t.Errorf("after %v: %+v, %v", c.column, after, err)
		}
	}
}
