package datasets_test

import (
	"net/http"
	"slices"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
)

func TestChange_KeepsNamedFiles(t *testing.T) {
	s := serve(t)
	path, d := s.create(s.draft(servertest.Inline("truth.csv", goodTruth)))
	was := d.Truths[0]
	for name, tt := range map[string]struct {
		file    map[string]any
		pointer string // of what is wrong; empty: nothing
	}{
		"by name and digest": {map[string]any{"name": was.Name, "sha256": was.SHA256}, ""},
		"as it was shown": {
			map[string]any{"name": was.Name, "sha256": was.SHA256, "size": was.Size, "mediaType": was.MediaType, "state": was.State, "url": was.URL},
			""},
		"with another size": {map[string]any{"name": was.Name, "sha256": was.SHA256, "size": 1}, "/truths/0/size"},
		"with another type": {map[string]any{"name": was.Name, "sha256": was.SHA256, "mediaType": "text/html"}, "/truths/0/mediaType"},
		"in another state":  {map[string]any{"name": was.Name, "sha256": was.SHA256, "state": "pending"}, "/truths/0/state"},
		"new, and stored already": {
			map[string]any{"name": "new.csv", "sha256": servertest.Digest(newTruth), "size": len(newTruth), "state": "stored"}, "/truths/0"},
		"other bytes, without size": {map[string]any{"name": "truth.csv", "sha256": servertest.Digest(newTruth)}, "/truths/0/size"},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			body := map[string]any{"truths": []any{tt.file}}
			if tt.pointer != "" {
				if got := s.pointers(http.MethodPatch, path, body); len(got[tt.pointer]) == 0 {
					t.Errorf("nothing is wrong at %s: %v", tt.pointer, got)
				}
				return
			}
			if got := s.patch(http.StatusOK, path, body); got.TruthVersion != 1 || got.Truths[0] != was {
				t.Errorf("%+v, want %+v", got.Truths[0], was)
			}
		})
	}
	s.t = t
	patch := `[{"op":"replace","path":"/inputs/0/mediaType","value":"text/html"}]`
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, path, patch, "Content-Type", "application/json-patch+json")
	patch = `[{"op":"add","path":"/inputs/-","value":{"name":"b.txt","content":"Yg=="}}]`
	var got record.Dataset
	s.Want(http.StatusOK, &got, "olga", http.MethodPatch, path, patch, "Content-Type", "application/json-patch+json")
	if len(got.Inputs) != 2 || got.Inputs[0] != d.Inputs[0] || got.Inputs[1].State != record.FileStored || got.TruthVersion != 1 {
		t.Errorf("%+v", got)
	}
}

func TestTruth_NewestAnnouncementCounts(t *testing.T) {
	s := serve(t)
	path, d := s.create(s.draft(servertest.Inline("truth.csv", goodTruth)))
	first := s.patch(http.StatusOK, path, map[string]any{"truths": []any{servertest.Announced("bad.csv", badTruth)}})
	second := s.patch(http.StatusOK, path, map[string]any{"truths": []any{servertest.Announced("new.csv", newTruth)}})
	old := first.Truths[0].Upload
	s.Want(http.StatusNotFound, nil, "", old.Method, old.URL, badTruth, headers(old)...)
	s.Upload(second.Truths[0].Upload, []byte(newTruth))
	s.accept(d.ID)
	if got := s.get("olga", path); got.TruthVersion != 2 || len(got.Diagnostics) != 0 || s.truth(d.ID).Files[0].Name != "new.csv" {
		t.Errorf("%+v", got)
	}
}

func TestTruth_UploadedIsReplacedByANewerAnnouncement(t *testing.T) {
	s := serve(t)
	path, d := s.create(s.draft(servertest.Announced("bad.csv", badTruth)))
	s.Upload(d.Truths[0].Upload, []byte(badTruth))
	s.accept(d.ID)
	if got := s.get("olga", path); len(got.Diagnostics) == 0 {
		t.Fatalf("%+v", got)
	}
	arrived := s.patch(http.StatusOK, path, map[string]any{"truths": []any{servertest.Announced("good.csv", goodTruth)}})
	if len(arrived.Diagnostics) > 0 {
		t.Errorf("diagnostics of another truth are left: %+v", arrived)
	}
	s.Upload(arrived.Truths[0].Upload, []byte(goodTruth))
	s.patch(http.StatusOK, path, map[string]any{"truths": []any{servertest.Announced("new.csv", newTruth)}})
	if got := s.item(d.ID); got.PendingWork.Is(record.AcceptTruth) || got.TruthVersion != 0 {
		t.Errorf("a truth that has not arrived is due: %+v", got)
	}
}

func TestTruth_IsAcceptedWithItsLastFile(t *testing.T) {
	s := serve(t)
	const more = "id,label\n3,dog\n"
	path, d := s.create(s.draft(servertest.Inline("one.csv", goodTruth), servertest.Announced("two.csv", more)))
	s.accept(d.ID)
	if got := s.get("olga", path); got.TruthVersion != 0 || s.truth(d.ID) != nil || s.item(d.ID).PendingWork.Is(record.AcceptTruth) {
		t.Fatalf("%+v", got)
	}
	s.Upload(d.Truths[1].Upload, []byte(more))
	s.accept(d.ID)
	if got := s.get("olga", path); got.TruthVersion != 1 || len(s.truth(d.ID).Files) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestCreate_CanonicalizesNamesOfMeasures(t *testing.T) {
	s := serve(t)
	draft := s.draft(servertest.Inline("qrels.txt", "q1 0 d1 1\n"))
	draft["runFormat"] = map[string]any{"kind": "trec-run"}
	draft["evaluator"] = map[string]any{"kind": "retrieval", "measures": []string{"MAP", "NDCG@010"}, "primaryMeasure": "NDCG@10"}
	path, d := s.create(draft)
	if e := d.Evaluator; !slices.Equal(e.Measures, []string{"AP", "nDCG@10"}) || e.PrimaryMeasure != "nDCG@10" {
		t.Errorf("%+v", e)
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
	if d.TruthVersion != 1 || d.Evaluator.PrimaryMeasure != "Beauty" {
		t.Errorf("%+v", d)
	}
	if got := s.patch(http.StatusOK, path, map[string]any{
		"truths": []any{}, "evaluator": map[string]any{"command": "judge -v"}}); got.TruthVersion != 2 {
		t.Errorf("%+v", got)
	}
	builtin := map[string]any{
		"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy"}, "primaryMeasure": "Accuracy", "image": nil,
			"command": nil}}
	if got := s.pointers(http.MethodPatch, path, builtin); len(got["/truths"]) == 0 {
		t.Errorf("%v", got)
	}
}

// A file whose bytes are there already cannot be uploaded again, on S3 without a notification: it is stored at once.
func TestChange_StoresAnnouncedFileThatIsThere(t *testing.T) {
	s := serve(t)
	path, d := s.create(s.draft(servertest.Announced("truth.csv", goodTruth)))
	s.Upload(d.Truths[0].Upload, []byte(goodTruth))
	s.accept(d.ID)
	s.patch(http.StatusOK, path, map[string]any{"truths": []any{servertest.Announced("new.csv", newTruth)}})
	s.patch(http.StatusOK, path, map[string]any{"truths": []any{servertest.Announced("old.csv", goodTruth)}})
	if got := s.get("olga", path); got.Truths[0].State != record.FileStored || got.Truths[0].Upload != nil {
		t.Errorf("%+v", got.Truths)
	}
}
