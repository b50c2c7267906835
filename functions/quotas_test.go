package functions_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/evaluator"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// lab is an organizer with a task that asks for small run files, and a dataset.
type lab struct {
	*servertest.Server
	t                        *testing.T
	organizer, task, dataset string
}

const labTruth = "id,label\n1,a\n"

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{Server: servertest.New(t, functions.Operations()...), t: t}
	l.organizer = l.Create("olga", "/v1/organizers", map[string]any{"name": "Lab"})[len("/v1/organizers/"):]
	l.task = l.Create("olga", "/v1/tasks", map[string]any{"organizerId": l.organizer, "name": "Task"})
	l.dataset = l.Create("olga", "/v1/datasets", newDatasetBody(l.task[len("/v1/tasks/"):]))[len("/v1/datasets/"):]
	return l
}

// advance sets the clock of the server forward.
func (l *lab) advance(d time.Duration) {
	now := l.Now
	l.Now = func() time.Time { return now().Add(d) }
}

// bytes is what the user's files count.
func (l *lab) bytes(user string) int64 {
	l.t.Helper()
	u, err := records.Get[record.Usage](l.t.Context(), l.Store, store.Strong, record.UsageKey(servertest.UserID(user)))
	if err != nil || u == nil {
		l.t.Fatalf("the usage of %s: %v", user, err)
	}
	return u.Bytes
}

// bytesAre fails the test unless the user's files count so many bytes.
func (l *lab) bytesAre(user string, want int64, when string) {
	l.t.Helper()
	if got := l.bytes(user); got != want {
		l.t.Errorf("%s: %s has %d bytes, want %d", when, user, got, want)
	}
}

// refused sends a request that a quota must refuse, and returns the detail.
func (l *lab) refused(status int, user, method, path string, body any) string {
	l.t.Helper()
	var p struct{ Type, Detail string }
	a := l.Want(status, &p, user, method, path, body)
	want, retry := "urn:assay:problem:quota-exhausted", status == http.StatusTooManyRequests
	if retry {
		want = "urn:assay:problem:quota-today"
	}
	if p.Type != want || (a.Header.Get("Retry-After") != "") != retry || p.Detail == "" {
		l.t.Errorf("%s %s: %s %q, Retry-After %q", method, path, p.Type, p.Detail, a.Header.Get("Retry-After"))
	}
	return p.Detail
}

func fileOf(n int64) map[string]any {
	sum := sha256.Sum256([]byte(fmt.Sprint(n)))
	return map[string]any{"name": fmt.Sprintf("%d.csv", n), "size": n, "sha256": hex.EncodeToString(sum[:])}
}

func (l *lab) upload(files ...map[string]any) map[string]any {
	for _, f := range files {
		f["datasetId"] = l.dataset
	}
	return map[string]any{"type": "upload", "files": files}
}

func TestQuotas_ByDay(t *testing.T) {
	l := newLab(t)
	l.Quotas.Quotas = record.Quotas{User: record.UsageLimits{PerDay: map[string]int64{
		record.MadeOrganizers: 2, record.MadeTasks: 2, record.MadeDatasets: 2, record.MadeRegistrations: 2, record.MadeRuns: 2,
	}}}
	image := map[string]any{"type": "image", "image": "registry.example.org/a:1", "datasetIds": []string{l.dataset}}
	l.Create("olga", l.task+"/registrations", map[string]any{"team": "Home"})
	l.Know("user1", "user3")
	for _, c := range []struct {
		path  string
		body  func(n int) map[string]any
		taken int
	}{
		{"/v1/organizers", func(int) map[string]any { return map[string]any{"name": "More"} }, 1},
		{"/v1/tasks", func(int) map[string]any { return map[string]any{"organizerId": l.organizer, "name": "More"} }, 1},
		{"/v1/datasets", func(int) map[string]any { return newDatasetBody(l.task[len("/v1/tasks/"):]) }, 1},
		{l.task + "/registrations", func(n int) map[string]any {
			return map[string]any{"team": fmt.Sprint("Team ", n), "userId": servertest.UserID(fmt.Sprint("user", n))}
		}, 1},
		{l.task + "/submissions", func(int) map[string]any { return image }, 0},
	} {
		for n := c.taken; n < 2; n++ {
			l.Create("olga", c.path, c.body(n))
		}
		before := l.Want(http.StatusOK, nil, "olga", http.MethodGet, "/v1/user", nil).Body
		if detail := l.refused(http.StatusTooManyRequests, "olga", http.MethodPost, c.path, c.body(3)); !strings.Contains(detail, "24 hours") || !strings.Contains(detail, " 2.") {
			t.Errorf("%s: %s", c.path, detail)
		}
		if after := l.Want(http.StatusOK, nil, "olga", http.MethodGet, "/v1/user", nil).Body; !bytes.Equal(after, before) {
			t.Errorf("a refused POST %s changed %s to %s", c.path, before, after)
		}
	}
	if l.Do("root", http.MethodPost, "/v1/organizers", map[string]any{"name": "1"}).Status != http.StatusCreated {
		t.Error("an administrator is refused")
	}
	l.advance(26 * time.Hour)
	l.Create("olga", "/v1/organizers", map[string]any{"name": "The day after"})
}

// Every way in which files go gives their bytes back once.
func TestQuotas_BytesOfRunsComeBackOnce(t *testing.T) {
	l := newLab(t)
	l.Create("tom", l.task+"/registrations", map[string]any{"team": "Tom"})
	l.Quotas.Quotas.User = record.UsageLimits{StoredBytes: 1000, PendingBytes: 900, PendingFiles: 3}
	submit := func(f ...map[string]any) (s record.Submission) {
		t.Helper()
		l.Want(http.StatusCreated, &s, "tom", http.MethodPost, l.task+"/submissions", l.upload(f...))
		return s
	}
	one := submit(fileOf(600))
	l.bytesAre("tom", 600, "announced")
	l.refused(http.StatusForbidden, "tom", http.MethodPost, l.task+"/submissions", l.upload(fileOf(401)))
	l.refused(http.StatusForbidden, "tom", http.MethodPost, l.task+"/submissions", l.upload(fileOf(301)))
	l.bytesAre("tom", 600, "refused")
	cancelled := map[string]any{"state": "cancelled"}
	l.Want(http.StatusOK, nil, "tom", http.MethodPatch, "/v1/runs/"+one.RunIDs[0], cancelled)
	l.bytesAre("tom", 0, "cancelled")
	l.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, l.task+"/submissions/"+one.ID, nil)
	l.bytesAre("tom", 0, "cancelled and deleted")

	late, kept := submit(fileOf(500)), submit(map[string]any{"name": "run.csv", "content": base64.StdEncoding.EncodeToString([]byte(labTruth))})
	size := int64(len(labTruth))
	l.bytesAre("tom", 500+size, "announced and inline")
	l.advance(25 * time.Hour)
	worker := &evaluator.Worker{Store: l.Store, Files: l.Files, Now: l.Now, Log: slog.New(slog.DiscardHandler), Holder: "test"}
	for range 2 {
		if err := worker.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.bytesAre("tom", size, "never arrived")
	}
	l.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, "/v1/runs/"+late.RunIDs[0], nil)
	l.bytesAre("tom", size, "a failed run deleted")
	l.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, l.task+"/submissions/"+kept.ID, nil)
	l.bytesAre("tom", 0, "deleted by an organizer")
}

// The user who adds a file to a dataset is charged for all of its files; a file that was replaced counts until it is deleted.
func TestQuotas_BytesOfDatasetsComeBackToTheirPayer(t *testing.T) {
	l := newLab(t)
	truth := int64(len(labTruth))
	l.Know("otto")
	l.Want(http.StatusOK, nil, "olga", http.MethodPatch, "/v1/organizers/"+l.organizer, map[string]any{"members": []string{servertest.UserID("olga"), servertest.UserID("otto")}})
	path := "/v1/datasets/" + l.dataset
	l.Want(http.StatusOK, nil, "otto", http.MethodPatch, path, map[string]any{"inputs": []any{fileOf(300), fileOf(200)}})
	l.bytesAre("olga", 0, "another member added inputs")
	l.bytesAre("otto", truth+500, "added inputs")
	l.Quotas.Quotas.User.StoredBytes = 100
	l.refused(http.StatusForbidden, "otto", http.MethodPatch, path, map[string]any{"inputs": []any{fileOf(700)}})
	l.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, map[string]any{"inputs": []any{fileOf(300)}})
	l.bytesAre("otto", truth+300, "another member removed an input")
	l.bytesAre("olga", 0, "removed an input of another member's, with no room for the rest")

	l.Quotas.Quotas.User.StoredBytes = 400
	other := base64.StdEncoding.EncodeToString([]byte("id,label\n1,b\n"))
	l.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, map[string]any{"truths": []any{map[string]any{"name": "truth.csv", "content": other}}})
	l.bytesAre("olga", 300+truth, "replaced the truth")
	l.bytesAre("otto", 0, "another member replaced the truth")
	long := base64.StdEncoding.EncodeToString([]byte("id,label\n1,b\n" + strings.Repeat("2", 70) + ",a\n"))
	l.refused(http.StatusForbidden, "olga", http.MethodPatch, path, map[string]any{"truths": []any{map[string]any{"name": "truth.csv", "content": long}}})
	l.advance(80 * time.Hour)
	l.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, map[string]any{"truths": []any{map[string]any{"name": "truth.csv", "content": long}}})

	l.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
	l.bytesAre("olga", 0, "deleted")
	l.bytesAre("otto", 0, "deleted")
	l.Create("olga", "/v1/datasets", newDatasetBody(l.task[len("/v1/tasks/"):]))
	l.bytesAre("olga", truth, "another one")
	l.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, l.task, nil)
	l.bytesAre("olga", 0, "the task deleted")
}

func TestQuotas_AreListedInInfo(t *testing.T) {
	l := newLab(t)
	l.Quotas.Quotas = record.DefaultQuotas()
	var info struct {
		Limits struct{ Quotas record.Quotas }
	}
	l.Want(http.StatusOK, &info, "", http.MethodGet, "/info", nil)
	if got := info.Limits.Quotas; got.User.PerDay[record.MadeTasks] != 100 || got.Server.StoredBytes != 10<<40 {
		t.Errorf("%+v", got)
	}
}

// Each change that is kept in an audit entry can be made again and again, and counts each time.
func TestAudit_EntriesOfADayAreBounded(t *testing.T) {
	l := newLab(t)
	l.Know("otto")
	registration := l.Create("olga", l.task+"/registrations", map[string]any{"team": "Home"})
	var s record.Submission
	l.Want(http.StatusCreated, &s, "olga", http.MethodPost, l.task+"/submissions", map[string]any{"type": "image", "image": "registry.example.org/a:1", "datasetIds": []string{l.dataset}})
	both := []string{servertest.UserID("olga"), servertest.UserID("otto")}
	most := int64(0)
	for _, c := range []struct {
		path    string
		changes [3]map[string]any
	}{
		{"/v1/runs/" + s.RunIDs[0] + "/review", [3]map[string]any{{"comment": "a"}, {"comment": "b"}, {"comment": "c"}}},
		{l.task, [3]map[string]any{{"submissions": map[string]any{"perDay": 1}}, {"submissions": map[string]any{"perDay": 2}}, {"submissions": map[string]any{"perDay": 3}}}},
		{registration, [3]map[string]any{{"state": "rejected"}, {"state": "accepted"}, {"state": "rejected"}}},
		{"/v1/organizers/" + l.organizer, [3]map[string]any{{"members": both}, {"members": both[:1]}, {"members": both}}},
		{"/v1/datasets/" + l.dataset, [3]map[string]any{
			{"evaluator": map[string]any{"measures": []string{"MCC"}, "primaryMeasure": "MCC"}},
			{"evaluator": map[string]any{"measures": []string{"Kappa"}, "primaryMeasure": "Kappa"}},
			{"evaluator": map[string]any{"measures": []string{"MCC"}, "primaryMeasure": "MCC"}},
		}},
	} {
		most += 2
		l.Quotas.Quotas.User = record.UsageLimits{PerDay: map[string]int64{record.MadeAudits: most}}
		for _, change := range c.changes[:2] {
			l.Want(http.StatusOK, nil, "olga", http.MethodPatch, c.path, change)
		}
		l.refused(http.StatusTooManyRequests, "olga", http.MethodPatch, c.path, c.changes[2])
	}
}
