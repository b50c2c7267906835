package acceptancetest

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"assay/shared/domain/record"
)

func (st *scenario) organizer() {
	draft := map[string]any{"name": "Lake Lab " + st.tail, "website": "https://lake.example"}
	var made struct{ URL string }
	a := st.want(http.StatusCreated, &made, st.olivia, http.MethodPost, "/v1/organizers", draft)
	st.organizerPath = made.URL
	if made.URL == "" || made.URL != a.header.Get("Location") {
		st.t.Fatalf("the answer has the URL %q, Location %q", made.URL, a.header.Get("Location"))
	}
	var lab record.Organizer
	st.get(st.anyone, st.organizerPath, &lab)
	if !slices.Equal(lab.Members, []string{st.olivia.id}) || lab.Website != "https://lake.example" || lab.Version != 1 {
		st.t.Errorf("%+v, want olivia as the one member", lab)
	}
}

func (st *scenario) tasks() {
	organizer := id(st.organizerPath)
	draft := func(name string, more ...any) map[string]any {
		d := map[string]any{"organizerId": organizer, "name": name + " " + st.tail, "description": "Rank *documents*."}
		for i := 0; i+1 < len(more); i += 2 {
			d[more[i].(string)] = more[i+1]
		}
		return d
	}
	soon := record.At(time.Now().Add(time.Hour))
	past := record.At(time.Now().Add(-time.Hour))

	var made struct{ URL string }
	st.want(http.StatusCreated, &made, st.olivia, http.MethodPost, "/v1/tasks",
		draft("Ranking", "submissions", map[string]any{"opensAt": past, "closesAt": soon}, "registration", map[string]any{
			"opensAt": past, "closesAt": soon}))
	st.public = made.URL
	st.private = st.post(st.olivia, "/v1/tasks", draft("Secret", "visibility", "private"))
	st.limited = st.post(st.olivia, "/v1/tasks", draft("Limited", "submissions", map[string]any{"perDay": 3, "total": 4}))
	st.listed(st.olivia, "/v1/tasks?filter[organizerId]="+organizer, id(st.limited), id(st.private), id(st.public))
	for _, caller := range []user{st.anyone, st.sam} {
		st.listed(caller, "/v1/tasks?filter[organizerId]="+organizer, id(st.limited), id(st.public))
	}
	var task record.Task
	st.get(st.anyone, st.public, &task)
	if task.Submissions.ClosesAt == nil || *task.Submissions.ClosesAt != soon || task.Registration.Mode != record.Open ||
		task.Visibility != record.Public {
		st.t.Errorf("%+v, want the windows as given and the defaults", task)
	}
}

// missing returns an id of no resource.
func (st *scenario) missing() string { return record.NewID(time.Now()) }

// retrieval returns the body of a dataset of documents to rank.
func retrieval(task, name, split string, truth map[string]any) map[string]any {
	return map[string]any{
		"taskId": id(task), "name": name, "split": split, "truths": []any{truth},
		"runFormat": map[string]any{"kind": "trec-run"},
		"evaluator": map[string]any{"kind": "retrieval", "measures": measureNames},
	}
}

func (st *scenario) datasets() {
	qrels := read(st.t, "news/qrels")
	draft := retrieval(st.public, "News", "training", inline("qrels", qrels))
	topics := []byte("301 international organized crime\n")
	draft["inputs"] = []any{inline("topics.txt", topics)}
	var news record.Dataset
	st.want(http.StatusCreated, &news, st.olivia, http.MethodPost, "/v1/datasets", draft)
	st.news = news.ID
	if news.TruthVersion != 1 || news.Columns[0].Key != "AP" || news.Truths[0].State != record.FileStored {
		st.t.Errorf("%+v, want the first version of the ground truth and evaluator, by AP", news)
	}
	st.uploadedTruth()
	st.hidden = id(st.post(st.olivia, "/v1/datasets", newDataset(id(st.private), "training")))
	st.little = id(st.post(st.olivia, "/v1/datasets", newDataset(id(st.limited), "training")))

	st.listed(st.anyone, "/v1/datasets?filter[taskId]="+id(st.public)+","+id(st.private), st.cacm, st.news)
	st.listed(st.olivia, "/v1/datasets?filter[taskId]="+id(st.public)+","+id(st.private), st.hidden, st.cacm, st.news)

	var shown record.Dataset
	st.get(st.anyone, "/v1/datasets/"+st.news, &shown)
	if status, got := st.download(shown.Inputs[0].URL); status != http.StatusOK || !bytes.Equal(got, topics) {
		st.t.Errorf("the link of an input leads to %d, %q", status, got)
	}
	st.get(st.olivia, "/v1/datasets/"+st.news, &shown)
	if status, got := st.download(shown.Truths[0].URL); status != http.StatusOK || !bytes.Equal(got, qrels) {
		st.t.Errorf("the link of a truth leads its organizer to %d, %d bytes", status, len(got))
	}
	if status, _ := st.download(strings.Replace(shown.Truths[0].URL, st.news, st.cacm, 1)); status < http.StatusBadRequest {
		st.t.Errorf("a link that was changed leads to %d", status)
	}
}

// uploadedTruth makes a dataset whose truth is uploaded directly to the object store.
func (st *scenario) uploadedTruth() {
	st.t.Helper()
	qrels := read(st.t, "cacm/qrels")
	var cacm record.Dataset
	st.want(http.StatusCreated, &cacm, st.olivia, http.MethodPost, "/v1/datasets",
		retrieval(st.public, "CACM", "test", declared("qrels", qrels)))
	st.cacm = cacm.ID
	truth := cacm.Truths[0]
	if cacm.TruthVersion != 0 || truth.State != record.FilePending || truth.Upload == nil {
		st.t.Fatalf("%+v, want a link to upload the truth to", cacm)
	}
	if status := st.put(truth.Upload, qrels); status >= 300 {
		st.t.Fatalf("the truth is answered with %d", status)
	}
	st.await("the uploaded truth", func() error {
		st.get(st.olivia, "/v1/datasets/"+st.cacm, &cacm)
		if cacm.TruthVersion != 1 {
			return fmt.Errorf("truthVersion is %d, diagnostics %v", cacm.TruthVersion, cacm.Diagnostics)
		}
		return nil
	})
}

func (st *scenario) registrations() {
	all := st.public + "/registrations"
	ann := map[string]any{"team": st.annTeam(), "anonymous": true, "affiliation": "Shore University", "contact": st.annContact()}
	var made record.Registration
	a := st.want(http.StatusCreated, &made, st.ann, http.MethodPost, all, ann)
	st.annRegistration = a.header.Get("Location")
	if made.State != record.Accepted || made.UserID != st.ann.id || made.Alias == "" || made.Alias == made.Team {
		st.t.Errorf("%+v, want an accepted registration with an alias", made)
	}

	st.patch(st.olivia, st.public, nil, map[string]any{"registration": map[string]any{"mode": "approval"}})
	st.benRegistration = st.want(http.StatusCreated, &made, st.ben, http.MethodPost, all, map[string]any{
		"team": "Otter " + st.tail}).header.Get("Location")
	if made.State != record.Pending {
		st.t.Errorf("%+v, want a registration that waits", made)
	}
	carl := st.post(st.carl, all, map[string]any{"team": "Coot " + st.tail})
	st.patch(st.olivia, st.benRegistration, &made, map[string]any{"state": "accepted"})
	if made.State != record.Accepted || made.Version != 2 {
		st.t.Errorf("%+v, want it accepted", made)
	}
	st.patch(st.olivia, carl, nil, map[string]any{"state": "rejected"})

	st.patch(st.olivia, st.public, nil, map[string]any{"registration": map[string]any{"mode": "closed"}})

	_, secret := st.api.invite(st.t, st.olivia.token, st.private, map[string]any{})
	st.want(http.StatusNotFound, nil, st.pia, http.MethodGet, st.private, nil)
	st.post(st.pia, "/v1/user/memberships", map[string]any{"secret": secret, "registration": map[string]any{"team": "Plover"}})
	_, s := st.submit(st.pia, st.private, upload("public", csvFile("run.csv", "id,label\n1,a\n2,b\n", st.hidden)))
	st.run("/v1/runs/"+s.RunIDs[0], record.Completed)
}
