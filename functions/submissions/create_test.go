package submissions_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/shared/api/servertest"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/record/recordtest"
)

func TestCreate_MakesARunForEachDataset(t *testing.T) {
	s := serve(t, func(t *record.TaskItem) { t.Submissions.PerDay, t.Submissions.Total = 5, 3 })
	ready, open := s.dataset(recordtest.OnTestSplit), s.dataset()
	made := s.submit(upload(inline(ready, "run.txt", ranked), announced(open, "run.txt", ranked)))
	if len(made.RunIDs) != 2 || !slices.Equal(made.DatasetIDs, []string{ready.ID, open.ID}) || made.Team != "team of ada" ||
		made.Visibility != record.Private {
		t.Fatalf("%+v", made)
	}
	if q := made.Quota; *q.PerDay != 5 || *q.RemainingToday != 3 || *q.Total != 3 || *q.Remaining != 1 ||
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
	for range 2 { // an upload can be repeated
		s.Upload(made.Files[1].Upload, []byte(ranked))
		if r := s.run(made.RunIDs[1]); r.State != record.Queued || r.Files[0].State != record.FileStored || r.QueuedAt == nil {
			t.Fatalf("after the upload: %+v", r)
		}
	}
}

func TestShow_HasLinksForOwnerAndOrganizers(t *testing.T) {
	s := serve(t)
	d := s.dataset()
	body := upload(announced(d, "run.txt", ranked))
	body["visibility"] = record.Public
	path := s.path + "/" + s.submit(body).ID
	seen := func(user string) []record.RunFile {
		return servertest.Get[record.Submission](s.Server, user, path).Files
	}
	for user, uploads := range map[string]bool{"ada": true, "olga": false, "root": false} {
		if f := seen(user); len(f) != 1 || (f[0].Upload != nil) != uploads {
			t.Errorf("as %s: %+v", user, f)
		}
	}
	s.Upload(seen("ada")[0].Upload, []byte(ranked))
	for user, reads := range map[string]bool{"ada": true, "olga": true, "root": true, "bob": false, "": false} {
		if f := seen(user); len(f) == 1 != reads || reads && (f[0].URL == "" || f[0].Upload != nil) {
			t.Errorf("once stored, as %q: %+v", user, f)
		}
	}
	ended := s.submit(upload(announced(d, "run.txt", ranked)))
	r := s.run(ended.RunIDs[0])
	r.State = record.Cancelled
	s.Records().Replace(r)
	if v := servertest.Get[record.Submission](s.Server, "ada", s.path+"/"+ended.ID); v.Files[0].Upload != nil {
		t.Errorf("a file that no run waits for has a link: %+v", v.Files[0])
	}
	first := s.Want(http.StatusOK, nil, "ada", http.MethodGet, path, nil)
	s.Want(http.StatusNotModified, nil, "ada", http.MethodGet, path, nil, "If-None-Match", first.Header.Get("ETag"))
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
		{"a task being deleted", "olga", func(t *record.TaskItem) { t.PendingWork = record.NewPendingWork(record.DeleteTask, time.Now()) }, nil,
			409, "deleted"},
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
			if s.task.Deleting() {
				return // no caller sees lists of it
			}
			s.checkNothing(tt.user)
		})
	}
}

// Who may not submit learns that, and nothing of what is wrong with the body.
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

func TestCreate_ClosesAtTheInstant(t *testing.T) {
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
	_, _ = w.Write([]byte(content)) // into memory
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
		want  []string // pointer and beginning of the detail of every fault
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
	if p := s.refused(http.StatusUnprocessableEntity, "ada",
		upload(inline(one, "run.txt", strings.Repeat("q1\n", 150)))); len(p.Errors) != 100 {
		t.Errorf("%d faults are named of 150, want 100", len(p.Errors))
	}
	s.submit(upload(inline(one, "run.gz", zipped(ranked))))
}

// endlessRun is a run without end.
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

func TestQuota_SlidesAndEnds(t *testing.T) {
	s := serve(t, func(t *record.TaskItem) { t.Submissions.PerDay, t.Submissions.Total = 2, 3 })
	one, two := s.dataset(), s.dataset()
	body := upload(inline(one, "run.txt", ranked))
	s.submit(body)
	s.ahead.Add(int64(time.Hour))
	both := upload(inline(one, "run.txt", ranked), inline(two, "run.txt", ranked))
	s.Want(http.StatusTooManyRequests, nil, "ada", http.MethodPost, s.path, both)
	s.submit(body)
	before := s.allowance()
	a := s.Want(http.StatusTooManyRequests, nil, "ada", http.MethodPost, s.path, body)
	if wait, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || wait < 22*3600 || wait > 23*3600+1 {
		t.Errorf("Retry-After is %q, want about 23 hours", a.Header.Get("Retry-After"))
	}
	if after := s.allowance(); after.Version != before.Version || s.FileCount() != 2 {
		t.Errorf("a refused submission left %+v and %d files", after, s.FileCount())
	}
	s.ahead.Add(int64(23*time.Hour + time.Second))
	if q := s.submit(body).Quota; *q.Remaining != 0 || *q.RemainingToday != 0 {
		t.Errorf("%+v", q)
	}
	s.ahead.Add(int64(2 * record.Day))
	var p problem.Document
	s.Want(http.StatusForbidden, &p, "ada", http.MethodPost, s.path, body)
	if p.Type != problem.QuotaExhausted.Type() {
		t.Errorf("%+v", p)
	}
}

func TestQuota_IsNotOvershotByConcurrentRequests(t *testing.T) {
	for name, rules := range map[string]record.SubmissionRules{"of the day": {PerDay: 7}, "in all": {Total: 7}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(t *record.TaskItem) { t.Submissions = rules })
			body := upload(inline(s.dataset(), "run.txt", ranked))
			submit := func(int) servertest.Answer { return s.Do("ada", http.MethodPost, s.path, body) }
			statuses := servertest.Concurrently(50, submit)
			made := statuses[http.StatusCreated]
			for range 20 { // what conflicts left of the quota
				if submit(0).Status == http.StatusCreated {
					made++
				}
			}
			if made != 7 || statuses[http.StatusInternalServerError] > 0 {
				t.Errorf("%d submissions, answers by status: %v", made, statuses)
			}
			if a := s.allowance(); a.Total != 7 || len(a.Recent) != 7 || a.Submissions != 7 || s.FileCount() != 7 {
				t.Errorf("%+v and %d files", a, s.FileCount())
			}
		})
	}
}

func TestList_HasWhatTheCallerMaySeeAndAskedFor(t *testing.T) {
	s := serve(t)
	one, two := s.dataset(), s.dataset()
	hidden := s.submit(upload(inline(one, "run.txt", ranked)))
	body := upload(inline(two, "run.txt", ranked))
	body["visibility"] = "public"
	shown := s.submit(body)
	for _, tt := range []struct {
		user, query string
		want        []string
	}{
		{"", "", []string{shown.ID}},
		{"bob", "", []string{shown.ID}},
		{"ada", "", []string{shown.ID, hidden.ID}},
		{"olga", "", []string{shown.ID, hidden.ID}},
		{"ada", "?filter[datasetId]=" + one.ID, []string{hidden.ID}},
		{"", "?filter[datasetId]=" + one.ID, nil},
		{"ada", "?filter[visibility]=private", []string{hidden.ID}},
		{"ada", "?filter[type]=image", nil},
		{"", "?filter[userId]=" + recordtest.UserID("ada"), []string{shown.ID}},
		{"", "?filter[userId]=" + recordtest.UserID("bob"), nil},
	} {
		var got []string
		for _, v := range servertest.List[record.Submission](s.Server, tt.user, s.path+tt.query) {
			got = append(got, v.ID)
			if len(v.Files) > 0 {
				t.Errorf("a list has files: %+v", v.Files)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s as %q: %v, want %v", tt.query, tt.user, got, tt.want)
		}
	}
	s.Want(http.StatusNotFound, nil, "", http.MethodGet, s.path+"/"+hidden.ID, nil)
	s.Want(http.StatusNotFound, nil, "ada", http.MethodGet, fmt.Sprintf("/v1/tasks/%s/submissions/%s", record.NewID(s.Now()), hidden.ID), nil)
}
