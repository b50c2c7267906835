package functions_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/patch"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

const labTruth = "id,label\n1,a\n"

// charged is a platform with a dataset whose users have quotas.
type charged struct{ *platform }

func newCharged(t *testing.T) charged {
	t.Helper()
	c := charged{newPlatform(t, nil)}
	c.newDataset(nil)
	return c
}

// bytesAre fails the test unless the user's files count this number of bytes.
func (c charged) bytesAre(user string, want int64, when string) {
	c.t.Helper()
	if got := recordtest.Get[record.Usage](c.t, c.Store, record.UsageKey(recordtest.UserID(user))).Bytes; got != want {
		c.t.Errorf("%s: %s has %d bytes, want %d", when, user, got, want)
	}
}

// refused sends a request that a quota must refuse. It returns the detail.
func (c charged) refused(status int, user, method, path string, body any) string {
	c.t.Helper()
	var p struct{ Type, Detail string }
	a := c.Want(status, &p, user, method, path, body)
	want := "urn:assay:problem:quota-exhausted"
	retry := status == http.StatusTooManyRequests
	if retry {
		want = "urn:assay:problem:quota-today"
	}
	if p.Type != want || (a.Header.Get("Retry-After") != "") != retry || p.Detail == "" {
		c.t.Errorf("%s %s: %s %q, Retry-After %q", method, path, p.Type, p.Detail, a.Header.Get("Retry-After"))
	}
	return p.Detail
}

// fileOf returns a file of n bytes that is uploaded later.
func fileOf(n int64) servertest.File {
	f := servertest.Announced(fmt.Sprintf("%d.csv", n), fmt.Sprint(n))
	f["size"] = n
	return f
}

func TestQuotas_ByDay(t *testing.T) {
	p := newCharged(t)
	p.Quotas.Quotas = record.Quotas{User: record.UsageLimits{PerDay: map[string]int64{
		record.MadeOrganizers: 2, record.MadeTasks: 2, record.MadeDatasets: 2, record.MadeRegistrations: 2, record.MadeRuns: 2,
	}}}
	image := servertest.Image(servertest.ID(p.dataset))
	p.register("olga", nil)
	for _, c := range []struct {
		path  string
		body  func(n int) map[string]any
		taken int
	}{
		{"/v1/organizers", func(int) map[string]any { return map[string]any{"name": "More"} }, 1},
		{"/v1/tasks", func(int) map[string]any {
			return map[string]any{"organizerId": servertest.ID(p.organizer), "name": "More"}
		}, 1},
		{"/v1/datasets", func(int) map[string]any { return newDatasetBody(servertest.ID(p.task)) }, 1},
		{p.task + "/submissions", func(int) map[string]any { return image }, 0},
	} {
		for n := c.taken; n < 2; n++ {
			p.Create("olga", c.path, c.body(n))
		}
		before := p.Want(http.StatusOK, nil, "olga", http.MethodGet, "/v1/user", nil).Body
		if detail := p.refused(http.StatusTooManyRequests, "olga", http.MethodPost, c.path, c.body(3)); !strings.Contains(detail, "24 hours") ||
			!strings.Contains(detail, " 2.") {
			t.Errorf("%s: %s", c.path, detail)
		}
		if after := p.Want(http.StatusOK, nil, "olga", http.MethodGet, "/v1/user", nil).Body; !bytes.Equal(after, before) {
			t.Errorf("a refused POST %s changed %s to %s", c.path, before, after)
		}
	}
	if p.Do("root", http.MethodPost, "/v1/organizers", map[string]any{"name": "1"}).Status != http.StatusCreated {
		t.Error("an administrator is refused")
	}
	p.advance(26 * time.Hour)
	p.Create("olga", "/v1/organizers", map[string]any{"name": "The day after"})
}

// Every way of deleting files gives their bytes back exactly once.
func TestQuotas_BytesOfRunsComeBackOnce(t *testing.T) {
	p := newCharged(t)
	p.register("tom", nil)
	p.Quotas.Quotas.User = record.UsageLimits{StoredBytes: 1000, PendingBytes: 900, PendingFiles: 3}
	upload := func(f ...servertest.File) map[string]any { return servertest.Upload(servertest.ID(p.dataset), f...) }
	one := p.submit("tom", upload(fileOf(600)))
	p.bytesAre("tom", 600, "announced")
	p.refused(http.StatusForbidden, "tom", http.MethodPost, p.task+"/submissions", upload(fileOf(401)))
	p.refused(http.StatusForbidden, "tom", http.MethodPost, p.task+"/submissions", upload(fileOf(301)))
	p.bytesAre("tom", 600, "refused")
	cancelled := map[string]any{"state": "cancelled"}
	p.change("tom", "/v1/runs/"+one.RunIDs[0], cancelled)
	p.bytesAre("tom", 0, "cancelled")
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, p.task+"/submissions/"+one.ID, nil)
	p.bytesAre("tom", 0, "cancelled and deleted")

	late := p.submit("tom", upload(fileOf(500)))
	kept := p.submit("tom", upload(servertest.Inline("run.csv", labTruth)))
	size := int64(len(labTruth))
	p.bytesAre("tom", 500+size, "announced and inline")
	p.advance(25 * time.Hour)
	for range 2 {
		p.runDue()
		p.bytesAre("tom", size, "never arrived")
	}
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, "/v1/runs/"+late.RunIDs[0], nil)
	p.bytesAre("tom", size, "a failed run deleted")
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.task+"/submissions/"+kept.ID, nil)
	p.bytesAre("tom", size, "deleted by an organizer")
	purgeTrash(p.platform)
	p.bytesAre("tom", 0, "purged")
}

// The user who adds a file to a dataset is charged for all files of the dataset. A replaced file counts until it is deleted.
func TestQuotas_BytesOfDatasetsComeBackToTheirPayer(t *testing.T) {
	p := newCharged(t)
	truth := int64(len(labTruth))
	p.Join("otto", p.Invite("olga", p.organizer, nil), nil)
	path := p.dataset
	inputs := map[string]any{"inputs": []any{fileOf(300), fileOf(200)}}
	const moves = "You add a file, so all files of the dataset count as your stored files from now on, and no longer as another member's."
	said := p.Do("otto", http.MethodPatch, path+"?preview=true", inputs, "Content-Type", patch.MergePatch)
	if !strings.Contains(string(said.Body), moves) {
		t.Errorf("the preview does not say whose quota counts the files: %s", string(said.Body))
	}
	p.change("otto", path, inputs)
	p.bytesAre("olga", 0, "another member added inputs")
	p.bytesAre("otto", truth+500, "added inputs")
	p.Quotas.Quotas.User.StoredBytes = 100
	p.refused(http.StatusForbidden, "otto", http.MethodPatch, path, map[string]any{"inputs": []any{fileOf(700)}})
	p.change("olga", path, map[string]any{"inputs": []any{fileOf(300)}})
	p.bytesAre("otto", truth+300, "another member removed an input")
	p.bytesAre("olga", 0, "removed an input of another member's, with no room for the rest")

	p.Quotas.Quotas.User.StoredBytes = 400
	p.change("olga", path, map[string]any{"truths": []any{servertest.Inline("truth.csv", "id,label\n1,b\n")}})
	p.bytesAre("olga", 300+truth, "replaced the truth")
	p.bytesAre("otto", 0, "another member replaced the truth")
	long := servertest.Inline("truth.csv", "id,label\n1,b\n"+strings.Repeat("2", 70)+",a\n")
	p.refused(http.StatusForbidden, "olga", http.MethodPatch, path, map[string]any{"truths": []any{long}})
	p.advance(80 * time.Hour)
	p.change("olga", path, map[string]any{"truths": []any{long}})

	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
	purgeTrash(p.platform)
	p.bytesAre("olga", 0, "purged")
	p.bytesAre("otto", 0, "purged")
	p.Create("olga", "/v1/datasets", newDatasetBody(servertest.ID(p.task)))
	p.bytesAre("olga", truth, "another one")
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.task, nil)
	purgeTrash(p.platform)
	p.bytesAre("olga", 0, "the task purged")
}

// Each change that is kept in an audit entry can be repeated, and counts each time.
func TestAudit_EntriesOfADayAreBounded(t *testing.T) {
	p := newCharged(t)
	p.Join("otto", p.Invite("olga", p.organizer, nil), nil)
	registration := p.register("olga", nil)
	s := p.submit("olga", servertest.Image(servertest.ID(p.dataset)))
	both := []string{recordtest.UserID("olga"), recordtest.UserID("otto")}
	most := int64(1) // of the invitation
	for _, c := range []struct {
		path    string
		changes [3]map[string]any
	}{
		{"/v1/runs/" + s.RunIDs[0] + "/review", [3]map[string]any{{"comment": "a"}, {"comment": "b"}, {"comment": "c"}}},
		{p.task, [3]map[string]any{{"submissions": map[string]any{"perDay": 1}}, {"submissions": map[string]any{"perDay": 2}},
			{"submissions": map[string]any{"perDay": 3}}}},
		{registration, [3]map[string]any{{"state": "rejected"}, {"state": "accepted"}, {"state": "rejected"}}},
		{p.organizer, [3]map[string]any{{"owners": both}, {"owners": both[:1]}, {"owners": both}}},
		{p.dataset, [3]map[string]any{
			{"evaluator": map[string]any{"measures": []string{"MCC"}}},
			{"evaluator": map[string]any{"measures": []string{"Kappa"}}},
			{"evaluator": map[string]any{"measures": []string{"MCC"}}},
		}},
	} {
		most += 2
		p.Quotas.Quotas.User = record.UsageLimits{PerDay: map[string]int64{record.MadeAudits: most}}
		for _, change := range c.changes[:2] {
			p.change("olga", c.path, change)
		}
		p.refused(http.StatusTooManyRequests, "olga", http.MethodPatch, c.path, c.changes[2])
	}
}

// Organizers need no team for a baseline. No quota or window of the task applies to it.
func TestSubmission_BaselineNeedsNoTeamAndNoQuota(t *testing.T) {
	s := newWithSubmission(t)
	s.change("olga", s.task, map[string]any{"submissions": map[string]any{"perDay": 1, "total": 1, "closesAt": "2020-01-01T00:00:00Z"}})
	image := servertest.Image(servertest.ID(s.dataset))
	s.Want(http.StatusForbidden, nil, "olga", http.MethodPost, s.task+"/submissions", image)
	s.Want(http.StatusForbidden, nil, "tom", http.MethodPost, s.task+"/submissions", image) // the window has closed
	image["baseline"] = true
	s.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPost, s.task+"/submissions", image)
	s.Want(http.StatusForbidden, nil, "uma", http.MethodPost, s.task+"/submissions", image)
	var made [3]record.Submission
	for i, visibility := range []any{nil, "public", "private"} {
		image["visibility"] = visibility
		if visibility == nil {
			delete(image, "visibility")
		}
		made[i] = s.submit("olga", image)
		if (made[i].Visibility == record.Public) != (i < 2) || made[i].Team != record.BaselineTeam || !made[i].Baseline || made[i].Quota != nil {
			t.Errorf("%+v", made[i])
		}
	}
	used := recordtest.Get[record.Allowance](t, s.Store, record.AllowanceKey(servertest.ID(s.task), recordtest.UserID("olga")))
	if used.Total != 0 || used.Submissions != 0 || used.Runs[servertest.ID(s.dataset)] != 3 {
		t.Errorf("%+v", used)
	}
	path := s.task + "/submissions/" + made[0].ID
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, path, map[string]any{"baseline": false})
	s.Want(http.StatusUnprocessableEntity, nil, "uma", http.MethodPost, s.task+"/registrations", map[string]any{"team": "BaseLine"})

	// A later registration of the organizer under another name does not affect the baselines.
	own := s.register("olga", nil)
	s.change("olga", own, map[string]any{"team": "Renamed", "anonymous": true})
	if shown := servertest.Get[record.Submission](s.Server, "", path); shown.Team != record.BaselineTeam {
		t.Errorf("a baseline became %q", shown.Team)
	}
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, own, nil)

	// The dataset and the task cannot be deleted while the baselines exist.
	for _, path := range []string{s.submission, s.task + "/submissions/" + made[1].ID, s.task + "/submissions/" + made[2].ID} {
		s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
	}
	s.Want(http.StatusConflict, nil, "olga", http.MethodDelete, s.dataset, nil)
	s.Want(http.StatusConflict, nil, "olga", http.MethodDelete, s.task, nil)
	s.change("olga", "/v1/runs/"+made[0].RunIDs[0], map[string]any{"state": "cancelled"})
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, s.dataset, nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, s.task, nil)
}

func TestRegistration_SaysWhatIsLeftOfTheQuota(t *testing.T) {
	s := newWithSubmission(t)
	for _, user := range []string{"tom", "olga"} {
		if q := servertest.Get[record.Registration](s.Server, user, s.registration).Quota; q == nil || *q.PerDay != 3 || *q.RemainingToday != 2 ||
			*q.Total != 5 || *q.Remaining != 4 || q.ResetsAt == nil {
			t.Errorf("%s sees %+v", user, q)
		}
	}
	fresh := s.register("uma", nil)
	shown := servertest.Get[map[string]any](s.Server, "uma", fresh)
	if q, ok := shown["quota"].(map[string]any); !ok || q["remainingToday"] != 3.0 || q["remaining"] != 5.0 {
		t.Errorf("%v", shown)
	}
	shown["country"] = "Norway"
	s.change("uma", fresh, shown)
	s.change("olga", s.task, map[string]any{"submissions": map[string]any{"perDay": 0, "total": 0}})
	shown = servertest.Get[map[string]any](s.Server, "uma", fresh)
	if q, ok := shown["quota"].(map[string]any); !ok || q["left"] != nil || q["perDay"] != nil || q["total"] != nil {
		t.Errorf("without limits: %v", shown)
	}
}
