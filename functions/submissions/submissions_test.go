package submissions_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions/submissions"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

const (
	ranked  = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2 1.0 tag\n"
	another = "q1 Q0 d1 1 2.0 tag\n"
	wrong   = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2\nq1 Q0 d3 3 much tag\n" // Lines 2 and 3 have faults.
)

// fixture serves the submissions to a task. The user olga organizes the task, and ada is registered for it.
type fixture struct {
	*servertest.Server
	t     *testing.T
	ahead atomic.Int64 // nanoseconds by which the server's clock is ahead
	task  *recordtest.Task
	path  string
}

func serve(t *testing.T, options ...func(*record.TaskItem)) *fixture {
	t.Helper()
	f := &fixture{t: t, Server: servertest.New(t, submissions.Operations...)}
	f.Now = func() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }
	f.task = f.Records().Task(options...)
	f.path = f.task.Path() + "/submissions"
	f.task.Register("ada")
	return f
}

// dataset makes a retrieval dataset with a truth in use.
func (f *fixture) dataset(options ...func(*record.DatasetItem)) *record.DatasetItem {
	f.t.Helper()
	return f.task.Dataset(options...).DatasetItem
}

func byWorker(d *record.DatasetItem) { d.Evaluator.Kind = record.EvaluatorWorker }

func inState(state record.RegistrationState) func(*record.RegistrationItem) {
	return func(r *record.RegistrationItem) { r.State = state }
}

type object = map[string]any

// upload returns the body of a submission of files, which makes a new submission each time.
func upload(files ...object) object { return object{"type": "upload", "files": files, "again": true} }

// inline returns a file for the dataset, with its content.
func inline(d *record.DatasetItem, name, content string) object {
	f := servertest.Inline(name, content)
	f["datasetId"] = d.ID
	return f
}

// announced returns a file for the dataset, without its content.
func announced(d *record.DatasetItem, name, content string) object {
	f := servertest.Announced(name, content)
	f["datasetId"], f["mediaType"] = d.ID, "text/plain"
	return f
}

// submit submits the body as ada.
func (f *fixture) submit(body object) (v record.Submission) {
	f.t.Helper()
	f.Want(http.StatusCreated, &v, "ada", http.MethodPost, f.path, body)
	return v
}

// refused submits the body as the user, requires the status of a problem, and requires that nothing is left of the submission.
func (f *fixture) refused(status int, user string, body any) problem.Document {
	f.t.Helper()
	var p problem.Document
	f.Want(status, &p, user, http.MethodPost, f.path, body)
	f.checkNothing(user)
	return p
}

// checkNothing requires that the task has no submission, the user has no charge, and no file is stored.
func (f *fixture) checkNothing(user string) {
	f.t.Helper()
	if ids := f.IDs("root", f.path); len(ids) > 0 {
		f.t.Errorf("something is recorded: %v", ids)
	}
	if a := recordtest.Get[record.Allowance](f.t, f.Store, f.allowanceKey(user)); a != nil {
		f.t.Errorf("something is charged: %+v", a)
	}
	if n := f.FileCount(); n > 0 {
		f.t.Errorf("%d files are stored", n)
	}
}

func (f *fixture) run(id string) *record.RunItem {
	f.t.Helper()
	r := recordtest.Get[record.RunItem](f.t, f.Store, record.RunKey(id))
	if r == nil {
		f.t.Fatalf("there is no run %s", id)
	}
	return r
}

func (f *fixture) allowance() *record.Allowance {
	f.t.Helper()
	return recordtest.Get[record.Allowance](f.t, f.Store, f.allowanceKey("ada"))
}

// allowanceKey returns the key of the allowance of the user's team.
func (f *fixture) allowanceKey(user string) store.Key {
	grant := recordtest.Get[record.Registered](f.t, f.Store, record.RegisteredKey(recordtest.UserID(user), f.task.ID))
	if grant == nil {
		return record.AllowanceKey(f.task.ID, recordtest.UserID(user))
	}
	return record.AllowanceKey(f.task.ID, grant.ID)
}

func TestList_HasNothingOfAnotherTask(t *testing.T) {
	s := serve(t)
	made := s.submit(upload(inline(s.dataset(), "run.txt", ranked)))
	elsewhere := s.Records().Task(recordtest.OwnedBy(&record.Organizer{
		Meta: record.Meta{ID: s.task.OrganizerID}})).Dataset().Run("ada").Submission
	for _, user := range []string{"ada", "olga"} {
		if got := s.IDs(user, s.path); !slices.Equal(got, []string{made.ID}) {
			t.Errorf("%s: %v", user, got)
		}
	}
	s.Want(http.StatusBadRequest, nil, "ada", http.MethodGet, s.path+"?cursor="+elsewhere.ID, nil)
	s.Want(http.StatusNotFound, nil, "ada", http.MethodGet, s.path+"/"+elsewhere.ID, nil)
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

func TestList_HidesUserOfAnonymousTeam(t *testing.T) {
	s := serve(t)
	key := record.RegisteredKey(recordtest.UserID("ada"), s.task.ID)
	g := recordtest.Get[record.Registered](t, s.Store, key)
	g.Anonymous = true
	s.Records().Replace(g)
	body := upload(inline(s.dataset(), "run.txt", ranked))
	body["visibility"] = "public"
	path := s.path + "/" + s.submit(body).ID
	for user, knows := range map[string]bool{"": false, "bob": false, "ada": true, "olga": true, "root": true} {
		for _, p := range []string{s.path, path} {
			a := s.Want(http.StatusOK, nil, user, http.MethodGet, p, nil)
			if named := strings.Contains(string(a.Body), "team of ada") || strings.Contains(string(a.Body), g.UserID); named != knows {
				t.Errorf("%q sees who it is: %v\n%s", user, named, a.Body)
			}
		}
		status := http.StatusNoContent
		if knows {
			status = http.StatusOK
		}
		s.Want(status, nil, user, http.MethodGet, s.path+"?filter[userId]="+g.UserID, nil)
	}
}
