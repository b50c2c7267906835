package datasets_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"assay/functions/datasets"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/truth"
	"assay/shared/storage/store"
)

// accept does the pending work of the dataset, like the background worker.
func (f *fixture) accept(id string) {
	f.t.Helper()
	if err := (truth.Acceptor{Store: f.Store, Objects: f.Files, Now: f.Now}).Accept(f.t.Context(), id); err != nil {
		f.t.Fatal(err)
	}
}

const newTruth = "id,label\n1,dog\n2,dog\n"

func TestTruth_IsAcceptedOnceUploadedAndValid(t *testing.T) {
	s := serve(t)
	path, d := s.create(s.draft(servertest.Announced("truth.csv", goodTruth)))
	if d.TruthVersion != 0 || d.Truths[0].State != record.FilePending || s.truth(d.ID) != nil {
		t.Fatalf("%+v", d)
	}
	if f := s.get("ada", path); len(f.Truths) > 0 || f.Inputs[0].Upload != nil {
		t.Fatalf("an unrelated caller has a link to upload: %+v", f)
	}
	s.Upload(d.Truths[0].Upload, []byte(goodTruth))
	s.Upload(d.Truths[0].Upload, []byte(goodTruth)) // A client repeats an upload if it got no answer.
	s.accept(d.ID)
	s.accept(d.ID)
	if got := s.get("olga", path); got.TruthVersion != 1 || got.Truths[0].State != record.FileStored || got.Truths[0].Upload != nil {
		t.Fatalf("%+v", got)
	}

	changed := s.patch(http.StatusOK, path, map[string]any{"truths": []any{servertest.Announced("bad.csv", badTruth)}})
	if changed.TruthVersion != 1 || s.truth(d.ID).Files[0].Name != "truth.csv" {
		t.Fatal("a truth that has not arrived is in use")
	}
	s.Upload(changed.Truths[0].Upload, []byte(badTruth))
	s.accept(d.ID)
	got := s.get("olga", path)
	if got.TruthVersion != 1 || len(got.Diagnostics) != 2 || got.Diagnostics[0].Line != 3 {
		t.Fatalf("%+v", got)
	}
	if a := s.Want(http.StatusOK, nil, "olga", http.MethodGet, path, nil); strings.Contains(string(a.Body), "safeWhileBlinded") {
		t.Errorf("the answer has a member of records: %s", a.Body)
	}
	if kept := s.truth(d.ID); kept.Number != 1 || kept.Files[0].Name != "truth.csv" {
		t.Fatalf("a truth that cannot be read replaced one that can: %+v", kept)
	}
	if a := s.Want(http.StatusOK, nil, "ada", http.MethodGet, path, nil); strings.Contains(string(a.Body), "diagnostics") {
		t.Fatalf("an unrelated caller sees what is wrong with the truth: %s", a.Body)
	}

	s.patch(http.StatusOK, path, map[string]any{"truths": []any{servertest.Inline("new.csv", newTruth)}})
	if got := s.get("olga", path); got.TruthVersion != 2 || len(got.Diagnostics) != 0 || !s.item(d.ID).PendingWork.Is(record.Reevaluate) {
		t.Fatalf("%+v", got)
	}
}

func TestChange_IsAuditedWhenItAffectsEvaluations(t *testing.T) {
	s, path, d := serveDataset(t)
	for _, tt := range []struct {
		body    map[string]any
		version int64
		action  string // action of the newest audit entry
	}{
		{map[string]any{"name": "Dogs and cats"}, 1, "dataset.created"},
		{map[string]any{"truths": []any{servertest.Inline("new.csv", newTruth)}}, 2, "truth.changed"},
		{map[string]any{"truths": []any{servertest.Inline("new.csv", newTruth)}}, 2, "truth.changed"}, // the same again
		{map[string]any{"evaluator": map[string]any{"measures": []string{"MCC"}}}, 3, "evaluator.changed"},
		{map[string]any{"inputs": []any{servertest.Inline("other.txt", "1\n")}}, 3, "evaluator.changed"},
	} {
		got := s.patch(http.StatusOK, path, tt.body)
		if got.TruthVersion != tt.version || s.truth(d.ID).Number != tt.version {
			t.Fatalf("%v: version %d, in use %d, want %d", tt.body, got.TruthVersion, s.truth(d.ID).Number, tt.version)
		}
		entries := s.entries()
		if len(entries) != int(tt.version) || entries[0].Action != tt.action {
			t.Fatalf("%v: %d entries, the newest %+v", tt.body, len(entries), entries)
		}
	}
	entries, err := json.Marshal(s.entries())
	if err != nil || strings.Contains(string(entries), ",dog") {
		t.Fatalf("the entries have the content of the truth: %s %v", entries, err)
	}
	if !strings.Contains(string(entries), servertest.Digest(goodTruth)) || !strings.Contains(string(entries), servertest.Digest(newTruth)) {
		t.Fatalf("the entries do not have the digests of the truths: %s", entries)
	}
	if !s.hasTruth(d.ID, newTruth) {
		t.Fatal("the truth in use is not stored")
	}
}

func TestTruth_AnnouncedCanBeSentInline(t *testing.T) {
	s := serve(t)
	path, d := s.create(s.draft(servertest.Announced("truth.csv", goodTruth)))
	s.patch(http.StatusOK, path, map[string]any{"truths": []any{servertest.Inline("truth.csv", goodTruth)}})
	if inUse := s.truth(d.ID); inUse == nil || inUse.Number != 1 {
		t.Fatalf("%+v", inUse)
	}
	if e := s.entries(); len(e) != 1 {
		t.Fatalf("nothing was changed by it: %+v", e[0])
	}
}

func TestChange_NamesFaults(t *testing.T) {
	s, path, d := serveDataset(t)
	for pointer, body := range map[string]map[string]any{
		"/taskId":               {"taskId": record.NewID(s.Now())},
		"/truths/0":             {"truths": []any{servertest.Inline("bad.csv", badTruth)}},
		"/truths":               {"truths": []any{}},
		"/evaluator/measures/0": {"evaluator": map[string]any{"measures": []string{"AP"}}},
		"/truthVersion":         {"truthVersion": 9},
	} {
		if got := s.pointers(http.MethodPatch, path, body); len(got[pointer]) == 0 {
			t.Errorf("nothing is wrong at %s: %v", pointer, got)
		}
	}
	if got := s.item(d.ID); got.Version != 1 || s.truth(d.ID).Number != 1 || len(s.entries()) != 1 {
		t.Errorf("a change that was refused changed something: %+v", got)
	}
}

// brokenStore fails one write.
type brokenStore struct {
	store.Store
	broken atomic.Bool
}

func (b *brokenStore) Write(ctx context.Context, writes ...store.Write) error {
	if b.broken.CompareAndSwap(true, false) {
		return fmt.Errorf("a test: %w", store.ErrUnavailable)
	}
	return b.Store.Write(ctx, writes...)
}

func TestChange_ThatFailsKeepsFilesInUse(t *testing.T) {
	s, path, d := serveDataset(t)
	broken := &brokenStore{Store: s.Store}
	s.Store = broken
	broken.broken.Store(true)
	s.patch(http.StatusServiceUnavailable, path, map[string]any{"truths": []any{servertest.Inline("renamed.csv", goodTruth)}})
	if !s.hasTruth(d.ID, goodTruth) {
		t.Fatal("the truth in use is gone")
	}
}

func TestChange_LosesNoConcurrentChange(t *testing.T) {
	const changes = 12
	s, path, d := serveDataset(t)
	statuses := servertest.Concurrently(changes, func(i int) servertest.Answer {
		return s.Do("olga", http.MethodPatch, path, map[string]any{"truths": []any{servertest.Inline(fmt.Sprintf("truth-%d.csv", i), newTruth)}})
	})
	if statuses[http.StatusOK] != changes {
		t.Errorf("answers by status: %v", statuses)
	}
	inUse := s.truth(d.ID)
	if inUse.Number != 1+changes || s.item(d.ID).TruthVersion != inUse.Number || len(s.entries()) != 1+changes {
		t.Errorf("version %d, %d entries", inUse.Number, len(s.entries()))
	}
	if !s.hasTruth(d.ID, newTruth) {
		t.Error("the truth in use is gone")
	}
}

func TestTruth_LargeIsReadAfterTheRequest(t *testing.T) {
	s, path, d := serveDataset(t)
	large := s.item(d.ID)
	large.Truths[0].Size = 1 << 30 // The size in the record decides.
	s.Records().Replace(large)
	s.patch(http.StatusOK, path, map[string]any{"evaluator": map[string]any{"measures": []string{"MCC"}}})
	if got := s.item(d.ID); !got.PendingWork.Is(record.AcceptTruth) || got.TruthVersion != 1 ||
		s.truth(d.ID).Evaluator.Measures[0] != "Accuracy" {
		t.Fatalf("%+v", got)
	}
	s.accept(d.ID)
	if got := s.item(d.ID); got.PendingWork.Is(record.AcceptTruth) || got.TruthVersion != 2 ||
		s.truth(d.ID).Evaluator.Measures[0] != "MCC" {
		t.Fatalf("%+v", got)
	}
}

// A truth of some KB that unpacks to millions of lines takes more memory than a request may use. The background worker reads
// it after the request.
func TestTruth_ThatUnpacksToMuchIsReadAfterTheRequest(t *testing.T) {
	var packed strings.Builder
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, "id,label\n"+strings.Repeat("1,a\n", 6_000_000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	large := servertest.Inline("truth.csv.gz", packed.String())
	s, path, changed := serveDataset(t)
	_, created := s.create(s.draft(large))
	s.patch(http.StatusOK, path, map[string]any{"truths": []any{large}})
	for id, version := range map[string]int64{created.ID: 0, changed.ID: 1} {
		if got := s.item(id); !got.PendingWork.Is(record.AcceptTruth) || got.TruthVersion != version {
			t.Errorf("pending is %+v, and the truth has the version %d, want %d", got.PendingWork, got.TruthVersion, version)
		}
	}
}

// A pool changes at once, although the truth that the same request announces has not arrived.
func TestChange_MovesRunsToTheNewPoolAtOnce(t *testing.T) {
	s, path, d := serveDataset(t)
	pool := s.item(d.ID).OrganizerID + "/gpu"
	s.patch(http.StatusUnprocessableEntity, path, map[string]any{"pool": "gpu"}) // The pool belongs to no organizer.
	s.patch(http.StatusUnprocessableEntity, path, map[string]any{"pool": record.NewID(s.Now()) + "/gpu"})
	s.patch(http.StatusOK, path, map[string]any{"pool": pool, "truths": []any{servertest.Announced("new.csv", newTruth)}})
	if inUse := s.truth(d.ID); inUse.Pool != pool || inUse.Number != 1 || !s.item(d.ID).PendingWork.Is(record.Reevaluate) {
		t.Errorf("%+v", inUse)
	}
}

// TestCreate_TakesTheExample creates the dataset that is the example in the OpenAPI document.
func TestCreate_TakesTheExample(t *testing.T) {
	s := serve(t)
	for _, op := range datasets.Operations {
		if example, ok := op.Example.(map[string]any); ok {
			example = maps.Clone(example)
			example["taskId"] = s.task.ID
			if _, d := s.create(example); d.TruthVersion != 1 || d.Inputs[0].State != record.FileStored {
				t.Errorf("%+v", d)
			}
			return
		}
	}
	t.Error("there is no example")
}

// The secret that keys the digests of the truths is made with the first truth and never changes. No answer contains it.
func TestTruthSecret_IsMadeOnce(t *testing.T) {
	s := serve(t)
	read := func(id string) *record.TruthSecret {
		return recordtest.Get[record.TruthSecret](t, s.Store, record.TruthSecretKey(id))
	}
	path, d := s.create(s.draft(servertest.Announced("truth.csv", goodTruth)))
	if read(d.ID) != nil {
		t.Error("there is a secret before there is a truth")
	}
	s.Upload(d.Truths[0].Upload, []byte(goodTruth))
	s.accept(d.ID)
	first := read(d.ID)
	s.patch(http.StatusOK, path, map[string]any{"truths": []any{servertest.Inline("new.csv", newTruth)}})
	if again := read(d.ID); first == nil || len(first.Secret) != 32 || !bytes.Equal(first.Secret, again.Secret) || s.truth(d.ID).Number != 2 {
		t.Errorf("%+v became %+v", first, again)
	}
	_, other := s.create(s.draft(servertest.Inline("truth.csv", goodTruth)))
	if bytes.Equal(read(other.ID).Secret, first.Secret) {
		t.Error("two datasets have one secret")
	}
	encoded := base64.StdEncoding.EncodeToString(first.Secret)
	for _, asked := range []string{path, "/v1/datasets"} {
		if a := s.Want(http.StatusOK, nil, "olga", http.MethodGet, asked, nil); bytes.Contains(a.Body, []byte(encoded)) {
			t.Errorf("%s has the secret", asked)
		}
	}
}

func TestChange_KeepsNamedFiles(t *testing.T) {
	s, path, d := serveDataset(t)
	was := d.Truths[0]
	for name, tt := range map[string]struct {
		file    map[string]any
		pointer string // pointer of the fault; empty if there is none
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
	for range 2 { // The second patch differs only in the link, which a patch cannot remove.
		patch = `[{"op":"replace","path":"/inputs/0/name","value":"c.txt"},{"op":"remove","path":"/inputs/0/url"}]`
		s.Want(http.StatusOK, &got, "olga", http.MethodPatch, path, patch, "Content-Type", "application/json-patch+json")
		if f := got.Inputs[0]; f.Name != "c.txt" || f.State != record.FileStored || f.URL == "" || got.TruthVersion != 1 || got.Version != 3 {
			t.Errorf("%+v", got)
		}
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

// Nobody can upload a file again whose bytes are stored, and S3 would not notify of it. So the file counts as stored at once.
func TestChange_StoresAnnouncedFileThatWasUploaded(t *testing.T) {
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
