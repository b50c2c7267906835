package functions_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
)

const (
	judgments   = "301 0 a 1\n302 0 c 2\n302 0 d 0\n"
	otherTopics = `{"qid":"1","query":"lakes"}` + "\n"
	sameTopics  = `{"qid":"301","query":"lakes"}` + "\n" + `{"qid":"302","query":"rivers"}` + "\n"
	reported    = "2 topics, 3 judgments, 2 relevant"
)

func judged(inputs map[string]any) map[string]any {
	return map[string]any{"split": "validation", "runFormat": map[string]any{"kind": "trec-run"}, "inputs": []any{inputs},
		"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP", "P@5"}},
		"truths":    []any{servertest.Inline("qrels.txt", judgments)}}
}

// Only organizers read what a truth has, wherever they read the dataset. Not even workers do.
func TestTruthReport_IsForOrganizersAlone(t *testing.T) {
	p := newPlatform(t, nil)
	p.Join("eddy", p.Invite("olga", p.organizer, nil), nil)
	p.register("tom", nil)
	p.newDataset(judged(servertest.Inline("topics.jsonl", otherTopics)))
	for user, reads := range map[string]bool{"olga": true, "eddy": true, "root": true, "tom": false, "": false, "robot": false} {
		for _, path := range []string{p.dataset, "/v1/datasets", "/v1/datasets?filter[taskId]=" + servertest.ID(p.task), p.task, "/v1/tasks"} {
			for _, media := range []string{"application/json", "text/html", "application/ld+json"} {
				a := p.Do(user, http.MethodGet, path, nil, "Accept", media)
				always := strings.Contains(path, "datasets") && media == "application/json"
				told := strings.Contains(string(a.Body), "truthReport") || strings.Contains(string(a.Body), reported)
				if told && !reads || reads && always && !told {
					t.Errorf("%s as %q in %s: %d, told %t", path, user, media, a.Status, told)
				}
			}
		}
	}
	var d record.Dataset
	p.Want(http.StatusOK, &d, "olga", http.MethodGet, p.dataset, nil)
	want := record.TruthReport{Contents: reported + "; 0 of the 1 topics of the inputs are judged", Warnings: []string{
		`no topic of the truth is in the inputs: the truth has "301", "302"; check that truth and inputs belong together and write ids alike`,
		"P@5 cannot reach its best value 1: the truth scored against itself gets 0.2"}}
	if got := d.TruthReport; got == nil || got.Contents != want.Contents || !slices.Equal(got.Warnings, want.Warnings) {
		t.Errorf("%+v", got)
	}
}

// Changed inputs are compared again, whether the request carries them or they arrive later. The truth version stays.
func TestTruthReport_FollowsTheInputs(t *testing.T) {
	p := newPlatform(t, nil)
	p.newDataset(judged(servertest.Inline("topics.jsonl", otherTopics)))
	expect := func(contents string) {
		t.Helper()
		for range 3 {
			p.advance(record.Day / 24)
			p.runDue()
		}
		if d := servertest.Get[record.Dataset](p.Server, "olga", p.dataset); d.TruthVersion != 1 || d.TruthReport.Contents != contents ||
			len(d.Diagnostics) > 0 || d.Reevaluation != nil {
			t.Errorf("version %d, %+v, %v", d.TruthVersion, d.TruthReport, d.Diagnostics)
		}
	}
	p.change("olga", p.dataset, map[string]any{"inputs": []any{servertest.Inline("topics.jsonl", sameTopics)}})
	expect(reported + "; 2 of the 2 topics of the inputs are judged")
	const later = sameTopics + `{"qid":"303","query":"ponds"}` + "\n"
	var d record.Dataset
	p.Want(http.StatusOK, &d, "olga", http.MethodPatch, p.dataset, map[string]any{"inputs": []any{servertest.Announced("later.jsonl", later)}})
	p.Upload(d.Inputs[0].Upload, []byte(later))
	expect(reported + "; 2 of the 3 topics of the inputs are judged")
}
