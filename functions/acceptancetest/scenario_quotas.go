package acceptancetest

import (
	"net/http"
	"strconv"

	"assay/shared/problem"
	"assay/shared/record"
)

// labels is an entry to the small dataset.
func (st *scenario) labels(content string) map[string]any {
	return upload("private", csvFile("run.csv", content, st.little))
}

const goodLabels = "id,label\n1,a\n2,b\n"

func (st *scenario) quotas() {
	submissions := st.limited + "/submissions"
	st.post(st.ben, st.limited+"/registrations", map[string]any{"team": "Otter"})
	_, s := st.submit(st.ben, st.limited, st.labels(goodLabels))
	st.left(s, 2, 3)
	if q := s.Quota; q.ResetsAt == nil || q.ResetsAt.Sub(s.CreatedAt.Time) != record.Day {
		st.t.Errorf("%+v, want the first to come back a day after %v", q, s.CreatedAt)
	}
	st.refused(problem.Invalid, st.ben, http.MethodPost, submissions, st.labels("id,label\n1\n"))
	st.failedUpload()
	_, s = st.submit(st.ben, st.limited, st.labels(goodLabels))
	st.left(s, 1, 2)
	st.cancelled()
	_, s = st.submit(st.ben, st.limited, st.labels(goodLabels))
	st.left(s, 0, 1)

	p, header := st.refusal(problem.QuotaToday, st.ben, http.MethodPost, submissions, st.labels(goodLabels))
	if after, err := strconv.Atoi(header.Get("Retry-After")); err != nil || after <= 0 || after > 24*60*60 {
		st.t.Errorf("Retry-After is %q, want seconds of a day", header.Get("Retry-After"))
	}
	st.says(p, "3", s.Quota.ResetsAt.String())
	st.patch(st.olivia, st.limited, nil, map[string]any{"submissions": map[string]any{"perDay": 0}})
	_, s = st.submit(st.ben, st.limited, st.labels(goodLabels))
	if q := s.Quota; q.PerDay != nil || q.RemainingToday != nil || *q.Remaining != 0 {
		st.t.Errorf("%+v, want nothing left of the total and no limit of the day", q)
	}
	st.says(st.refused(problem.QuotaExhausted, st.ben, http.MethodPost, submissions, st.labels(goodLabels)), "4")

	for name, rules := range map[string]map[string]any{
		"2099-01-01T00:00:00.000Z": {"opensAt": "2099-01-01T00:00:00Z", "closesAt": nil},
		"2020-01-01T00:00:00.000Z": {"opensAt": nil, "closesAt": "2020-01-01T00:00:00Z"},
	} {
		st.patch(st.olivia, st.limited, nil, map[string]any{"submissions": rules})
		st.says(st.refused(problem.OutsideWindow, st.ben, http.MethodPost, submissions, st.labels(goodLabels)), name)
	}
	st.patch(st.olivia, st.limited, nil, map[string]any{
		"submissions": map[string]any{"opensAt": nil, "closesAt": nil, "types": []string{"image"}}})
}

// left requires what an answer says is left of three runs a day and four in all.
func (st *scenario) left(s record.Submission, today, inAll int) {
	st.t.Helper()
	q := s.Quota
	if q == nil || q.PerDay == nil || q.RemainingToday == nil || q.Total == nil || q.Remaining == nil {
		st.t.Fatalf("the quota is %+v, want all its numbers", q)
	}
	if *q.PerDay != 3 || *q.RemainingToday != today || *q.Total != 4 || *q.Remaining != inAll {
		st.t.Errorf("%d of %d are left today and %d of %d in all, want %d and %d", *q.RemainingToday, *q.PerDay, *q.Remaining, *q.Total,
			today, inAll)
	}
}

// failedUpload sends a file that cannot be read to its address: the run fails, says why, and gives back what it used.
func (st *scenario) failedUpload() {
	st.t.Helper()
	content := []byte("id,label\n1,a\n2\n\"3,b\n")
	file := on(st.little, declared("run.csv", content))
	e, s := st.submit(st.ben, st.limited, upload("private", file))
	st.left(s, 1, 2)
	if status := st.put(s.Files[0].Upload, content); status >= 300 {
		st.t.Fatalf("the declared bytes are answered with %d", status)
	}
	st.run(e.runs[0], record.Failed)
	var run record.Run
	st.get(st.ben, e.runs[0], &run)
	lines := map[int]bool{}
	for _, d := range run.Diagnostics {
		if d.Severity != "error" || d.File != "run.csv" || d.Message == "" {
			st.t.Errorf("%+v, want an error of run.csv that says what is wrong", d)
		}
		lines[d.Line] = true
	}
	if !lines[3] || !lines[4] || run.EvaluationID != "" {
		st.t.Errorf("diagnostics %+v, want those of the lines 3 and 4", run.Diagnostics)
	}
}

// cancelled cancels the run of an image, which no worker leases.
func (st *scenario) cancelled() {
	st.t.Helper()
	e, s := st.submit(st.ben, st.limited, map[string]any{"type": "image", "image": "registry.example.org/otter:1", "datasetIds": []string{
		st.little}})
	st.left(s, 0, 1)
	run := e.runs[0]
	st.run(run, record.Queued)
	var r record.Run
	st.patch(st.ben, run, &r, map[string]any{"state": "cancelled", "label": "never mind"})
	if r.State != record.Cancelled || r.Label != "never mind" || r.FinishedAt == nil {
		st.t.Errorf("%+v, want it cancelled", r)
	}
}
