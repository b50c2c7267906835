package submissions_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/functions/submissions"
	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
)

func TestCreate_MakesARunForEachDataset(t *testing.T) {
	s := serve(t, func(t *record.TaskItem) { t.Submissions.PerDay, t.Submissions.Total = 5, 3 })
	ready, open := s.dataset(recordtest.OnTestSplit), s.dataset()
	made := s.submit(upload(inline(ready, "run.txt", ranked), announced(open, "run.txt", ranked)))
	if len(made.RunIDs) != 2 || !slices.Equal(made.DatasetIDs, []string{ready.ID, open.ID}) || made.Team != "team of ada" ||
		made.Visibility != record.Private {
		t.Fatalf("%+v", made)
	}
	if q := made.Quota; *q.PerDay != 5 || *q.RemainingToday != 3 || *q.Total != 3 || *q.Remaining != 1 || *q.Left != 1 ||
		q.ResetsAt.Sub(s.Now()) > record.Day {
		t.Errorf("quota %+v", q)
	}
	if made.Files[0].State != record.FileStored || made.Files[0].URL == "" || made.Files[0].Upload != nil || made.Files[0].Content != "" {
		t.Errorf("the inline file: %+v", made.Files[0])
	}
	if made.Files[1].State != record.FilePending || made.Files[1].URL != "" || made.Files[1].Upload == nil {
		t.Errorf("the file that is to come: %+v", made.Files[1])
	}
	for i, want := range []struct {
		state   record.RunState
		blinded bool
	}{{record.Queued, true}, {record.AwaitingUpload, false}} {
		r := s.run(made.RunIDs[i])
		review := recordtest.Get[record.ReviewItem](t, s.Store, record.ReviewKey(r.ID))
		if r.State != want.state || (r.QueuedAt != nil) != (want.state == record.Queued) || review.Blinded != want.blinded ||
			r.Access.Blinded != want.blinded || review.Published {
			t.Errorf("%+v with the review %+v", r, review)
		}
	}
	if got := s.Want(http.StatusOK, nil, "", http.MethodGet, made.Files[0].URL, nil); string(got.Body) != ranked {
		t.Errorf("downloaded %q", got.Body)
	}
	for range 2 { // Clients can repeat an upload.
		s.Upload(made.Files[1].Upload, []byte(ranked))
		if r := s.run(made.RunIDs[1]); r.State != record.Queued || r.Files[0].State != record.FileStored || r.QueuedAt == nil {
			t.Fatalf("after the upload: %+v", r)
		}
	}
}

func TestCreate_IsRefusedWithReason(t *testing.T) {
	at := func(d time.Duration) *record.Instant { i := record.At(time.Now().Add(d)); return &i }
	for _, tt := range []struct {
		name   string
		user   string
		alter  func(*record.TaskItem)
		body   func(*fixture, object)
		status int
		says   string
	}{
		{"without a login", "", nil, nil, 401, "login"},
		{"not registered", "bob", nil, nil, 403, "Register first"},
		{"not accepted yet", "pia", nil, nil, 403, "accept"},
		{"rejected", "rob", nil, nil, 403, "rejected"},
		{"an organizer who takes no part", "olga", nil, nil, 403, "Register first"},
		{"too early", "ada", func(t *record.TaskItem) { t.Submissions.OpensAt = at(time.Hour) }, nil, 403, "opens at 20"},
		{"too late", "ada", func(t *record.TaskItem) { t.Submissions.ClosesAt = at(-time.Second) }, nil, 403, "closed at 20"},
		{"a type that is not taken", "ada", func(t *record.TaskItem) { t.Submissions.Types = []record.SubmissionType{record.ImageType} }, nil,
			422, "/type"},
		{"a baseline of one's own", "ada", nil, func(_ *fixture, b object) { b["baseline"] = true }, 422, "/baseline"},
		{"another task's dataset", "ada", nil, func(s *fixture, b object) {
			b["files"] = []object{inline(s.dataset(func(d *record.DatasetItem) { d.TaskID = record.NewID(s.Now()) }), "run.txt", ranked)}
		}, 422, "/files/0/datasetId"},
		{"no dataset at all", "ada", nil, func(_ *fixture, b object) { b["datasetIds"] = []string{}; delete(b, "files") }, 422, "/files"},
		{"a dataset without a file", "ada", nil, func(s *fixture, b object) {
			b["datasetIds"] = []string{b["files"].([]object)[0]["datasetId"].(string), s.dataset().ID}
		}, 422, "no file for the dataset"},
		{"a dataset whose truth is not there yet", "ada", nil, func(s *fixture, b object) {
			b["files"] = []object{inline(s.dataset(recordtest.WithoutTruth), "run.txt", ranked)}
		}, 409, "announced no truth"},
		{"more datasets than allowed", "ada", nil, func(s *fixture, b object) {
			files := []object{}
			for range record.MaxSubmissionDatasets + 1 {
				files = append(files, inline(s.dataset(), "run.txt", ranked))
			}
			b["files"] = files
		}, 422, "11 datasets"},
		{"a repository without a URL", "ada", nil, func(s *fixture, b object) {
			b["type"], b["datasetIds"] = "repository", []string{s.dataset().ID}
			delete(b, "files")
		}, 422, "/url"},
		{"a repository that is not built", "ada", nil, func(s *fixture, b object) {
			b["type"] = "repository"
			b["url"] = "https://example.org/ranker.git"
			b["datasetIds"] = []string{s.dataset().ID}
			delete(b, "files")
		}, 422, `"pointer":"/datasetIds/0","detail":"names \"Dataset\", which takes no repositories`},
		{"an image with files", "ada", nil, func(_ *fixture, b object) { b["type"], b["image"] = "image", "ranker:1" }, 422, "/files"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t)
			if tt.alter != nil {
				tt.alter(s.task.TaskItem)
				s.Records().Replace(s.task)
			}
			s.task.Register("pia", inState(record.Pending))
			s.task.Register("rob", inState(record.Rejected))
			body := upload(inline(s.dataset(), "run.txt", ranked))
			if tt.body != nil {
				tt.body(s, body)
			}
			a := s.Want(tt.status, nil, tt.user, http.MethodPost, s.path, body)
			if !strings.Contains(string(a.Body), tt.says) {
				t.Errorf("it does not say %q: %s", tt.says, a.Body)
			}
			s.checkNothing(tt.user)
		})
	}
}

// A caller without the right to submit gets 403, even if the body is invalid.
func TestCreate_AuthorizesBeforeItReadsTheBody(t *testing.T) {
	s := serve(t)
	s.task.Register("pia", inState(record.Pending))
	s.task.Register("rob", inState(record.Rejected))
	hidden := serve(t, func(t *record.TaskItem) { t.Visibility = record.Private })
	for _, body := range []any{object{"type": "dance"}, `{"type":`, nil} {
		for user, status := range map[string]int{"": 401, "bob": 403, "pia": 403, "rob": 403} {
			s.refused(status, user, body)
		}
		hidden.refused(http.StatusNotFound, "bob", body)
	}
	s.refused(http.StatusUnprocessableEntity, "ada", object{"type": "dance"})
}

func TestCreate_IsRefusedFromTheEndOfTheWindow(t *testing.T) {
	closes := record.At(time.Now().Add(time.Hour))
	s := serve(t, func(t *record.TaskItem) { t.Submissions.ClosesAt = &closes })
	d := s.dataset()
	now := closes.Add(-time.Millisecond)
	s.Now = func() time.Time { return now }
	s.submit(upload(inline(d, "run.txt", ranked)))
	now = closes.Time
	s.Want(http.StatusForbidden, nil, "ada", http.MethodPost, s.path, upload(inline(d, "run.txt", ranked)))
}

func zipped(content string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(content)) // Writing to memory does not fail.
	_ = w.Close()
	return b.String()
}

func TestCreate_NamesEachFaultOfFiles(t *testing.T) {
	s := serve(t, func(t *record.TaskItem) { t.Submissions.PerDay = 10 })
	one, two := s.dataset(), s.dataset()
	sized := inline(one, "run.txt", ranked)
	sized["size"] = 3
	other := inline(one, "run.txt", ranked)
	other["sha256"] = strings.Repeat("a", 64)
	nothing := announced(one, "run.txt", ranked)
	nothing["sha256"], nothing["size"] = "", 0
	for name, tt := range map[string]struct {
		files []object
		want  []string // for each fault, its pointer and the beginning of its detail
	}{
		"lines":                  {[]object{inline(one, "run.txt", wrong)}, []string{"/files/0 line 2:", "/files/0 line 3:"}},
		"lines of a packed file": {[]object{inline(one, "run.gz", zipped(wrong))}, []string{"/files/0 line 2:", "/files/0 line 3:"}},
		"a broken packed file":   {[]object{inline(one, "run.gz", zipped(ranked)[:30])}, []string{"/files/0 "}},
		"of two datasets": {[]object{inline(one, "run.txt", wrong), inline(two, "run.txt", "q1\n")},
			[]string{"/files/0 line 2:", "/files/0 line 3:", "/files/1 line 1:"}},
		"next to one to come": {[]object{announced(one, "run.txt", ranked), inline(two, "run.txt", "q1\n")}, []string{"/files/1 line 1:"}},
		"a second file": {[]object{inline(one, "a", ranked), inline(two, "b", ranked), announced(one, "c", another)}, []string{
			"/files/2 is a second file"}},
		"one file twice": {[]object{inline(two, "a", ranked), inline(one, "a", ranked), inline(one, "b", ranked)}, []string{
			"/files/2/sha256 "}},
		"one name twice": {[]object{inline(one, "a", ranked), inline(one, "a", another)}, []string{"/files/1/name "}},
		"a folder":       {[]object{inline(one, "../a", ranked)}, []string{"/files/0/name "}},
		"another size":   {[]object{sized}, []string{"/files/0/size "}},
		"another digest": {[]object{other}, []string{"/files/0/sha256 "}},
		"neither":        {[]object{nothing}, []string{"/files/0 is empty"}},
		"an empty file":  {[]object{inline(one, "a", "")}, []string{"/files/0 is empty"}},
		"no base64":      {[]object{{"datasetId": one.ID, "name": "a", "content": "%%%"}}, []string{"/files/0/content "}},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			p := s.refused(http.StatusUnprocessableEntity, "ada", upload(tt.files...))
			var got []string
			for _, f := range p.Errors {
				got = append(got, f.Pointer+" "+f.Detail)
			}
			if len(got) != len(tt.want) || !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
				t.Errorf("%d faults, want %v:\n%s", len(got), tt.want, strings.Join(got, "\n"))
			}
		})
	}
	s.t = t
	p := s.refused(http.StatusUnprocessableEntity, "ada", upload(inline(one, "run.txt", strings.Repeat("q1\n", 150))))
	if len(p.Errors) != 1 || !strings.HasPrefix(p.Errors[0].Detail, "lines 1 to 150: ") || p.Errors[0].Count != 150 ||
		!strings.Contains(p.Detail, "has 150 faults;") {
		t.Errorf("the fault of 150 lines is told as %+v", p.Errors)
	}
	s.submit(upload(inline(one, "run.gz", zipped(ranked))))
}

// endlessRun reads a run that never ends.
type endlessRun struct{}

func (endlessRun) Read(p []byte) (int, error) { return copy(p, "1 Q0 lake 1 2.0 tom\n"), nil }

func TestCreate_BoundsInlineFilesTogether(t *testing.T) {
	s := serve(t)
	d := s.dataset(byWorker)
	most := strings.Repeat("x", record.MaxInlineBytes)
	for name, files := range map[string][]object{
		"one byte more":    {inline(d, "a", most+"x")},
		"in two files":     {inline(d, "a", most[:len(most)/2]), inline(d, "b", most[len(most)/2:]+"x")},
		"more than a body": {inline(d, "a", most+most[:1<<20])},
	} {
		if p := s.refused(http.StatusRequestEntityTooLarge, "ada", upload(files...)); !strings.Contains(p.Detail, "upload") {
			t.Errorf("%s: %s", name, p.Detail)
		}
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.Copy(w, io.LimitReader(endlessRun{}, 65<<20))
	_ = w.Close()
	if p := s.refused(http.StatusUnprocessableEntity, "ada", upload(inline(s.dataset(), "run.gz", packed.String()))); len(p.Errors) != 1 ||
		!strings.Contains(p.Errors[0].Detail, "upload it") {
		t.Errorf("a file that unpacks to 65 MiB: %+v", p.Errors)
	}
	made := s.submit(upload(inline(d, "a", most)))
	if made.Files[0].Size != record.MaxInlineBytes || s.run(made.RunIDs[0]).Queue != record.QueueWorkers {
		t.Errorf("%+v", made)
	}
}

// A file that no built-in evaluator reads is refused before its upload. Evaluators on workers take files up to the limit of all files.
func TestCreate_RefusesFilesThatNoEvaluatorReads(t *testing.T) {
	s := serve(t)
	large := func(d *record.DatasetItem, size int64) object {
		return upload(object{"datasetId": d.ID, "name": "run", "size": size, "sha256": servertest.Digest("large")})
	}
	builtin := s.dataset()
	labels := s.dataset(func(d *record.DatasetItem) {
		d.RunFormat = record.RunFormat{Kind: measure.CSV, IDField: "id", ValueField: "label"}
		d.Evaluator = record.Evaluator{Kind: string(measure.Classification), Measures: []string{"Accuracy"}}
	})
	for spare, d := range map[string]*record.DatasetItem{"low ranks": builtin, "fields that are not read": labels} {
		p := s.refused(http.StatusUnprocessableEntity, "ada", large(d, record.MaxEvaluatedBytes+1))
		if len(p.Errors) != 1 || p.Errors[0].Pointer != "/files/0" || p.Errors[0].Detail != "has 1073741825 bytes, and built-in evaluators "+
			"read at most 1073741824 bytes, after unpacking: leave out what is not needed, such as "+spare {
			t.Errorf("%+v", p.Errors)
		}
	}
	s.submit(large(builtin, record.MaxEvaluatedBytes))
	s.submit(large(s.dataset(byWorker), record.MaxFileBytes))
}

func TestCreate_QueuesImagesForWorkers(t *testing.T) {
	s := serve(t)
	d := s.dataset(func(d *record.DatasetItem) { d.Builds = true })
	for _, body := range []object{
		{"type": "image", "image": "ranker:1", "command": "rank"},
		{"type": "repository", "url": "https://example.org/ranker.git", "ref": "v1"},
	} {
		body["datasetIds"] = []string{d.ID}
		made := s.submit(body)
		if r := s.run(made.RunIDs[0]); r.State != record.Queued || r.Queue != record.QueueWorkers || len(made.Files) != 0 {
			t.Errorf("%+v", r)
		}
	}
}

// TestCreate_TakesTheExample submits the example in the OpenAPI document.
func TestCreate_TakesTheExample(t *testing.T) {
	s := serve(t, func(*record.TaskItem) {})
	for _, op := range submissions.Operations {
		if example, ok := op.Example.(map[string]any); ok {
			body := maps.Clone(example)
			file := maps.Clone(example["files"].([]any)[0].(map[string]any))
			file["datasetId"] = s.dataset().ID
			body["files"] = []any{file}
			s.Want(http.StatusCreated, nil, "ada", http.MethodPost, s.path, body)
			return
		}
	}
	t.Error("there is no example")
}

// interfered is a store in which another request is faster. It calls do once, before the next write, or, with reading, before the grants of
// ada are read.
type interfered struct {
	store.Store
	once    sync.Once
	do      func()
	reading bool
}

func (i *interfered) Write(ctx context.Context, writes ...store.Write) error {
	if !i.reading {
		i.once.Do(i.do)
	}
	return i.Store.Write(ctx, writes...)
}

func (i *interfered) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if i.reading && q.Partition == record.UserPartition(recordtest.UserID("ada")) {
		i.once.Do(i.do)
	}
	return i.Store.Query(ctx, q)
}

// A submission copies the attributes that its task and registration have when it is recorded, even in a race. A change of a task changes
// its grants afterwards. Both can happen between reading the task and reading the grant.
func TestCreate_RacesWithChangesOfTaskAndRegistration(t *testing.T) {
	private := func(f *fixture, g *record.Registered) {
		f.task.Visibility, g.PrivateTask = record.Private, true
		f.Records().Replace(f.task)
	}
	for name, tt := range map[string]struct {
		reading bool
		change  func(*fixture, *record.Registered)
		status  int
		has     func(team string, a record.AccessAttributes) bool
	}{
		"rejected": {false, func(_ *fixture, g *record.Registered) { g.State = record.Rejected }, http.StatusForbidden, nil},
		"renamed": {false, func(_ *fixture, g *record.Registered) { g.Team = "new" }, http.StatusCreated,
			func(team string, _ record.AccessAttributes) bool { return team == "new" }},
		"anonymous": {false, func(_ *fixture, g *record.Registered) { g.Anonymous = true }, http.StatusCreated,
			func(_ string, a record.AccessAttributes) bool { return a.Anonymous && a.Alias != "" }},
		"private":           {false, private, http.StatusCreated, func(_ string, a record.AccessAttributes) bool { return a.PrivateTask }},
		"private before it": {true, private, http.StatusCreated, func(_ string, a record.AccessAttributes) bool { return a.PrivateTask }},
		"first terms before it": {true, func(f *fixture, _ *record.Registered) {
			f.task.Terms = &record.Terms{Text: "Share nothing.", Version: 1}
			f.Records().Replace(f.task)
		}, http.StatusForbidden, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			body := upload(inline(s.dataset(), "run.txt", ranked))
			undisturbed := s.Store
			s.Store = &interfered{Store: undisturbed, reading: tt.reading, do: func() {
				s.Store = undisturbed
				g := recordtest.Get[record.Registered](t, s.Store, record.RegisteredKey(recordtest.UserID("ada"), s.task.ID))
				tt.change(s, g)
				s.Records().Replace(g)
			}}
			a := s.Want(tt.status, nil, "ada", http.MethodPost, s.path, body)
			if tt.status != http.StatusCreated {
				s.checkNothing("ada")
				return
			}
			made := recordtest.Get[record.SubmissionItem](t, s.Store, record.SubmissionKey(servertest.ID(a.Header.Get("Location"))))
			if r := s.run(made.RunIDs[0]); !tt.has(made.Team, made.Access) || !tt.has(r.Team, r.Access) {
				t.Errorf("made %+v\nwith the run %+v", made, r)
			}
			if a := s.allowance(); a.Total != 1 || s.FileCount() != 1 {
				t.Errorf("%+v, %d files", a, s.FileCount())
			}
		})
	}
}
