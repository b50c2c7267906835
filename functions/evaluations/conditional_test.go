package evaluations_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"assay/functions/evaluations"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// ask sends a GET to the handler, and returns the answer without the headers that differ for each request.
func ask(handler http.Handler, user, path, media, have string) servertest.Answer {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept", media)
	r.Header.Set("Accept-Encoding", "gzip")
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+user)
	}
	if have != "" {
		r.Header.Set("If-None-Match", have)
	}
	handler.ServeHTTP(w, r)
	w.Header().Del("X-Request-Id")
	return servertest.Answer{Status: w.Code, Header: w.Header(), Body: w.Body.Bytes()}
}

// changes are records that leaderboards depend on, and that a test changes.
type changes struct {
	*fixture
	evaluations []*record.EvaluationItem
	second      *record.DatasetItem // of the same task
	embargo     *record.Embargo
	profile     *record.User // of ada
}

// change draws a change of one record.
func (f *changes) change(rt *rapid.T) {
	e := rapid.SampledFrom(f.evaluations).Draw(rt, "evaluation")
	d := f.dataset.DatasetItem
	name := rapid.SampledFrom([]string{"one", "other"}).Draw(rt, "name")
	var changed record.Record = e
	kinds := []string{"review", "identity", "value", "nothing", "rules", "dataset", "second", "task", "extension", "profile"}
	switch rapid.SampledFrom(kinds).Draw(rt, "change") {
	case "review":
		e.Access.Published = rapid.Bool().Draw(rt, "published")
		e.Access.Blinded = rapid.Bool().Draw(rt, "blinded")
	case "identity":
		e.Access.Anonymous = rapid.Bool().Draw(rt, "anonymous")
		e.Access.Public = rapid.Bool().Draw(rt, "public")
		e.Label = name
	case "value":
		e.Measures["AP"] = new(rapid.SampledFrom([]float64{0, .25, .5, 1}).Draw(rt, "ap"))
	case "nothing": // that any caller sees
		e.Access.Waits = !e.Access.Waits
	case "rules":
		d.Columns = recordtest.ColumnsFrom(rapid.SampledFrom([]record.From{record.FromNow, record.FromClose}).Draw(rt, "from"), "nDCG@10")
		other := rapid.SampledFrom([]record.ColumnAudience{record.ForEveryone, record.ForTeam, record.ForOrganizers}).Draw(rt, "audience")
		d.Columns = append(d.Columns, record.Column{Key: "AP", Audience: other})
		changed = d
	case "dataset":
		d.Name = name
		d.FinalRuns = rapid.IntRange(0, 1).Draw(rt, "final")
		changed = d
	case "second":
		f.second.Name = name
		changed = f.second
	case "task":
		f.dataset.Task.Name = name
		changed = f.dataset.Task.TaskItem
	case "extension":
		closes := record.At(d.Submissions.ClosesAt.Add(time.Duration(rapid.IntRange(1, 90).Draw(rt, "minutes")) * time.Minute))
		x := record.Exception{ExceptionDraft: record.ExceptionDraft{DatasetID: d.ID, ClosesAt: &closes}}
		x.ID = "one"
		f.embargo.Extend(x)
		changed = f.embargo
	default:
		f.profile.Name = name
		changed = f.profile
	}
	f.builder.Replace(changed)
}

// TestConditional_EqualsRendering compares a server that answers 304 early with servers that render each answer, because they have sent
// none before. Records and time change in between. Requests have the tags of all earlier answers in If-None-Match, also of answers to
// others.
func TestConditional_EqualsRendering(t *testing.T) {
	server := servertest.New(t, evaluations.Operations...)
	var now time.Time
	server.Now = func() time.Time { return now }
	early := api.New(server.Env, evaluations.Operations)
	profile := &record.User{Meta: record.MetaOf(recordtest.UserID("ada"), time.Now()), Name: "ada"}
	server.Records().Put(profile)
	statuses := map[int]int{}
	nightlytest.Check(t, func(rt *rapid.T) {
		now = time.Now()
		f := &changes{profile: profile}
		b := server.Records()
		b.Batch(func() {
			f.fixture = newFixture(server, b)
			f.second = f.dataset.Task.Dataset().DatasetItem
			f.dataset.Submissions.ClosesAt = new(record.At(now.Add(time.Hour)))
			f.embargo = &record.Embargo{Meta: record.MetaOf(f.dataset.TaskID, now)}
			b.Put(f.embargo)
			for range rapid.IntRange(1, 6).Draw(rt, "evaluations") {
				f.evaluations = append(f.evaluations, f.add(drawResult(rt, rapid.SampledFrom([]float64{-1, .25, .5}))))
			}
		})
		dataset := "&filter[datasetId]=" + f.dataset.ID
		pages := []string{f.board("limit=2" + dataset), f.board("sort=rank" + dataset), f.board("sort=AP&limit=2&offset=1" + dataset),
			f.board("best=true" + dataset), f.board("view=public&best=false" + dataset)}
		lists := append([]string{"/v1/evaluations?sort=rank" + dataset}, pages[1:4]...)
		paths := map[string][]string{"text/html": pages, "application/json": lists, "text/csv": append(lists, f.whole("best=true")),
			"application/jsonl": {f.whole(""), f.whole("view=public")}}
		var asked [][2]string // media type and path
		for range 3 {
			media := rapid.SampledFrom([]string{"text/html", "text/html", "application/json", "text/csv", "application/jsonl"}).Draw(rt, "media")
			asked = append(asked, [2]string{media, rapid.SampledFrom(paths[media]).Draw(rt, "path")})
		}
		users := rapid.Permutation([]string{"", "reg", "ada", "bob", "olga", "root"}).Draw(rt, "callers")[:2]
		have := `"none"`
		bodies := map[string]string{} // by tag
		for range rapid.IntRange(3, 12).Draw(rt, "steps") {
			for _, user := range users {
				for _, r := range asked {
					media, path := r[0], r[1]
					got := ask(early, user, path, media, have)
					want := ask(api.New(server.Env, evaluations.Operations), user, path, media, have)
					statuses[got.Status]++
					if got.Status == http.StatusBadRequest && want.Status == got.Status { // The two differ in their requestId.
						continue
					}
					if !reflect.DeepEqual(got, want) {
						rt.Fatalf("%s %s as %q who has %s:\n got %d %v %s\nwant %d %v %s", media, path, user, have, got.Status, got.Header, got.Body,
							want.Status, want.Header, want.Body)
					}
					if tag := got.Header.Get("ETag"); got.Status == http.StatusOK && tag != "" {
						have += ", " + tag
						if body, known := bodies[tag]; known && body != string(got.Body) {
							rt.Fatalf("%s %s: two answers have the tag %s", media, path, tag)
						}
						bodies[tag] = string(got.Body)
					}
				}
			}
			if rapid.IntRange(0, 5).Draw(rt, "passes") == 0 {
				now = now.Add(time.Duration(rapid.SampledFrom([]int{-50, 50}).Draw(rt, "minutes")) * time.Minute)
			} else {
				f.change(rt)
			}
		}
	})
	if statuses[http.StatusNotModified] == 0 || statuses[http.StatusOK] == 0 {
		t.Errorf("answers by status: %v", statuses)
	}
}

// TestConditional_RendersNothing compares the memory that a 304 takes, which does not depend on the length of the answer.
func TestConditional_RendersNothing(t *testing.T) {
	s := serve(t)
	s.builder.Batch(func() {
		for i := range 200 {
			s.add(result{user: fmt.Sprint("user", i), value: float64(i) / 200, ap: .5})
		}
	})
	handler := api.New(s.Env, evaluations.Operations)
	dataset := "&filter[datasetId]=" + s.dataset.ID
	for _, r := range [][2]string{
		{s.board("sort=rank&limit=200" + dataset), "application/json"}, {s.board("sort=rank&limit=200" + dataset), "text/csv"},
		{s.board("limit=200" + dataset), "text/html"}, {s.whole(""), "text/csv"}, {s.whole(""), "application/jsonl"},
	} {
		for _, user := range []string{"", "reg", "user7", "olga"} {
			have := `"none"`
			measured := func(want int) float64 {
				return testing.AllocsPerRun(5, func() {
					a := ask(handler, user, r[0], r[1], have)
					if a.Status != want {
						t.Fatalf("%s as %s: %d", r[0], user, a.Status)
					}
				})
			}
			rendered := measured(http.StatusOK)
			have = ask(handler, user, r[0], r[1], "").Header.Get("ETag")
			named := user == recordtest.OrganizerUser && r[0] == s.board("sort=rank&limit=200"+dataset)
			if held := measured(http.StatusNotModified); !named && held > 300 {
				t.Errorf("%s as %q, %s: a 304 takes %v allocations, and the answer %v", r[0], user, r[1], held, rendered)
			}
		}
	}
}

// BenchmarkConditional reads a leaderboard of 200 entries without a connection, with and without the tag of the answer, and one evaluation
// for comparison.
func BenchmarkConditional(b *testing.B) {
	s := serve(b)
	s.builder.Batch(func() {
		for i := range 200 {
			s.add(result{user: fmt.Sprint("user", i), value: float64(i*79%200) / 200, ap: float64(i*47%200) / 200})
		}
	})
	handler := api.New(s.Env, evaluations.Operations)
	pages := s.board("limit=200&filter[datasetId]=" + s.dataset.ID)
	one := s.get("", pages+"&sort=rank")[0].ID
	for _, r := range []struct{ name, path, media string }{
		{"json", pages + "&sort=rank", "application/json"}, {"csv", pages + "&sort=rank", "text/csv"}, {"page", pages, "text/html"},
		{"whole", s.whole(""), "text/csv"}, {"evaluation", "/v1/evaluations/" + one, "application/json"},
	} {
		tag := ask(handler, "", r.path, r.media, "").Header.Get("ETag")
		for _, status := range []int{http.StatusOK, http.StatusNotModified} {
			have := `"none"`
			if status == http.StatusNotModified {
				have = tag
			}
			b.Run(fmt.Sprint(r.name, "/", status), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if a := ask(handler, "", r.path, r.media, have); a.Status != status {
						b.Fatal(a.Status)
					}
				}
			})
		}
	}
}
