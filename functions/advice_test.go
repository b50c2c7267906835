package functions_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/truth"
)

// fortyLabels returns a ground truth of 40 labels.
func fortyLabels() string {
	var b strings.Builder
	b.WriteString("id,label\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%c\n", i, 'a'+rune(i%2))
	}
	return b.String()
}

const advised = "40 examples with exact live scores: about 14 runs reveal the ground truth"

// live returns the members of a dataset that shows scores of 40 labels. The quota is perDay runs.
func live(perDay int) map[string]any {
	return map[string]any{"split": "validation", "truths": []any{servertest.Inline("truth.csv", fortyLabels())},
		"submissions": map[string]any{"perDay": perDay, "closesAt": "2999-01-01T00:00:00Z"}}
}

// Only organizers read how many runs reveal their truth, wherever they read the single dataset. Other callers read it nowhere.
func TestAdvice_IsForOrganizersAlone(t *testing.T) {
	p := newPlatform(t, nil)
	p.Join("eddy", p.Invite("olga", p.organizer, nil), nil)
	p.register("tom", nil)
	p.newDataset(live(20))
	other := p.Create("una", "/v1/organizers", map[string]any{"name": "Other lab"})
	p.Create("una", "/v1/tasks", map[string]any{"organizerId": servertest.ID(other), "name": "Other"})
	for user, reads := range map[string]bool{"olga": true, "eddy": true, "root": true, "tom": false, "una": false, "": false, "robot": false} {
		for path, single := range map[string]bool{
			p.dataset: true, "/v1/datasets": false, "/v1/datasets?filter[taskId]=" + servertest.ID(p.task): false,
			p.task: false} {
			for _, media := range []string{"application/json", "text/html"} {
				a := p.Do(user, http.MethodGet, path, nil, "Accept", media)
				told := strings.Contains(string(a.Body), `"advice"`) || strings.Contains(string(a.Body), advised)
				if a.Status != http.StatusOK || told != (reads && single) && (told || media == "application/json") {
					t.Errorf("%s as %q in %s: %d, advice: %t, want %t", path, user, media, a.Status, told, reads && single)
				}
			}
		}
	}
	var d record.Dataset
	p.Want(http.StatusOK, &d, "olga", http.MethodGet, p.dataset, nil)
	if a := d.Advice; a.Examples != 40 || a.Runs != 14 || a.Allowed < 1_000_000 || !strings.HasPrefix(a.Detail, advised) {
		t.Errorf("%+v", a)
	}
}

// A new or changed dataset or quota brings advice, also in its preview. A change that follows the advice ends it.
func TestAdvice_FollowsQuotaAndScores(t *testing.T) {
	p := newPlatform(t, nil)
	effect := func(method, path string, body any) string {
		t.Helper()
		var preview previewAnswer
		p.Want(http.StatusOK, &preview, "olga", method, path+"?preview=true", body)
		for _, e := range preview.Effects {
			if e.Kind == "advice" {
				return e.Subject + ": " + e.Detail
			}
		}
		return ""
	}
	body := newDatasetBody(servertest.ID(p.task))
	for member, value := range live(20) {
		body[member] = value
	}
	if got := effect(http.MethodPost, "/v1/datasets", body); !strings.Contains(got, advised) {
		t.Errorf("the preview of a new dataset says %q", got)
	}
	var made record.Dataset
	p.Want(http.StatusCreated, &made, "olga", http.MethodPost, "/v1/datasets", body)
	path := "/v1/datasets/" + made.ID
	if made.Advice == nil || made.Advice.Runs != 14 {
		t.Fatalf("a new dataset has the advice %+v", made.Advice)
	}
	for _, c := range []struct {
		path   string
		change map[string]any
		tells  bool // whether the preview has advice
		after  bool // whether there is advice afterwards
	}{
		{path, map[string]any{"name": "Renamed"}, false, true},
		{path, map[string]any{"submissions": map[string]any{"total": 13}}, false, false},
		{path, map[string]any{"submissions": map[string]any{"total": 14}}, true, true},
		{path, map[string]any{"columns": []any{map[string]any{"key": "Accuracy", "from": "close"}}}, false, false},
		{path, map[string]any{"columns": []any{}}, true, true},
		{path, map[string]any{"split": "test"}, false, false},
		{path, map[string]any{"split": "validation"}, true, true},
		{p.task, map[string]any{"submissions": map[string]any{"total": 5}}, false, false},
		{p.task, map[string]any{"submissions": map[string]any{"total": 50}}, true, true},
		{path, map[string]any{"truths": []any{servertest.Inline("truth.csv", "id,label\n1,a\n")}}, true, true},
		{path, map[string]any{"evaluator": map[string]any{"kind": "worker", "image": "judge:1", "measures": []any{"Score"}}}, false, false},
	} {
		if got := effect(http.MethodPatch, c.path, c.change); strings.HasPrefix(got, path+": ") != c.tells {
			t.Errorf("the preview of %v says %q", c.change, got)
		}
		var changed record.Dataset
		a := p.Want(http.StatusOK, nil, "olga", http.MethodPatch, c.path, c.change)
		if c.path == path && strings.Contains(string(a.Body), `"advice"`) != c.after {
			t.Errorf("%v is answered with %s", c.change, a.Body)
		}
		p.Want(http.StatusOK, &changed, "olga", http.MethodGet, path, nil)
		if (changed.Advice != nil) != c.after {
			t.Errorf("after %v: %+v", c.change, changed.Advice)
		}
	}
}

// The preview of a change says that a dataset no longer opens, because it closes before its task opens.
func TestAdvice_NamesDatasetsThatNeverOpen(t *testing.T) {
	p := newPlatform(t, nil)
	body := newDatasetBody(servertest.ID(p.task))
	body["submissions"] = map[string]any{"closesAt": "2999-01-01T00:00:00Z"}
	p.Create("olga", "/v1/datasets", body)
	previews := func(method, path string, body any, want int) {
		t.Helper()
		var preview previewAnswer
		p.Want(http.StatusOK, &preview, "olga", method, path+"?preview=true", body)
		told := 0
		for _, e := range preview.Effects {
			if e.Kind == "advice" && strings.Contains(e.Detail, "opens at 2999-01-01T00:00:00.000Z and closes at 2999-01-01T00:00:00.000Z") {
				told++
			}
		}
		if told != want {
			t.Errorf("the preview of %v has %+v", body, preview.Effects)
		}
	}
	opens := map[string]any{"submissions": map[string]any{"opensAt": "2999-01-01T00:00:00Z"}}
	previews(http.MethodPatch, p.task, opens, 1)
	p.Want(http.StatusOK, nil, "olga", http.MethodPatch, p.task, opens)
	previews(http.MethodPatch, p.task, map[string]any{"submissions": map[string]any{"perDay": 3}}, 0) // no news
	body["name"] = "Another"
	previews(http.MethodPost, "/v1/datasets", body, 1)
}

// The number of examples is known only after an uploaded truth has been read.
func TestAdvice_ComesWithAnUploadedTruth(t *testing.T) {
	p := newPlatform(t, nil)
	content := fortyLabels()
	members := live(20)
	members["truths"] = []any{servertest.Announced("truth.csv", content)}
	p.newDataset(members)
	read := func() (d record.Dataset) {
		p.Want(http.StatusOK, &d, "olga", http.MethodGet, p.dataset, nil)
		return d
	}
	before := read()
	if before.Advice != nil {
		t.Errorf("%+v", before.Advice)
	}
	p.Upload(before.Truths[0].Upload, []byte(content))
	if err := (truth.Acceptor{Store: p.Store, Objects: p.Files, Now: p.Now}).Accept(t.Context(), servertest.ID(p.dataset)); err != nil {
		t.Fatal(err)
	}
	if after := read(); after.Advice == nil || after.Advice.Runs != 14 {
		t.Errorf("%+v, %+v", after.Advice, after.Diagnostics)
	}
	if set := recordtest.Get[record.DatasetItem](t, p.Store, record.DatasetKey(servertest.ID(p.dataset))); set.Advice != nil {
		t.Error("advice is stored, and would not follow the quota of the task")
	}
}
