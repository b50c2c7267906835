package acceptancetest

import (
	"bytes"
	"net/http"
	"slices"
	"sync"

	"assay/shared/problem"
	"assay/shared/record"
)

func (st *scenario) patches() {
	var before, after record.Task
	a := st.get(st.olivia, st.limited, &before)
	tag := a.header.Get("ETag")
	edit := func(kind *problem.Kind, operations any) problem.Document {
		st.t.Helper()
		return st.refused(kind, st.olivia, http.MethodPatch, st.limited, operations, "Content-Type", jsonPatch)
	}
	edit(problem.PatchFailed, append(edits("replace", "/name", "Half done"), edits("test", "/website", "https://other.example")...))
	st.names(edit(problem.Invalid, edits("replace", "/version", 7)), "/version", "")
	_, header := st.refusal(problem.UnsupportedMedia, st.olivia, http.MethodPatch, st.limited, `{"name":"Plain"}`, "Content-Type",
		"application/json")
	if header.Get("Accept-Patch") != "application/json-patch+json, application/merge-patch+json" {
		st.t.Errorf("Accept-Patch is %q", header.Get("Accept-Patch"))
	}
	if st.get(st.olivia, st.limited, &after); after.Version != before.Version || after.Name != before.Name {
		st.t.Fatalf("%+v, want nothing changed by patches that were refused", after)
	}

	a = st.want(http.StatusOK, &after, st.olivia, http.MethodPatch, st.limited, append(edits("test", "/name", before.Name), append(
		edits("replace", "/description", "New rules."), edits("add", "/submissions/types/-", "upload")...)...), "Content-Type", jsonPatch,
		"If-Match", tag)
	if after.Version != before.Version+1 || after.Description != "New rules." ||
		!slices.Equal(after.Submissions.Types, []record.SubmissionType{"image", "upload"}) {
		st.t.Errorf("%+v, want description and types changed", after)
	}
	for _, method := range []string{http.MethodPatch, http.MethodDelete} {
		var body any
		if method == http.MethodPatch {
			body = map[string]any{"name": "Late"}
		}
		st.refused(problem.PreconditionFailed, st.olivia, method, st.limited, body, "If-Match", tag)
		st.refused(problem.PreconditionFailed, st.olivia, method, st.limited, body, "If-Match", `"1-0"`)
	}
	st.want(http.StatusOK, nil, st.olivia, http.MethodPatch, st.limited, map[string]any{"description": "Newer rules."}, "If-Match",
		a.header.Get("ETag"))
	st.matched()
}

// matched changes all that can be changed under the tag that a GET gave. The tag has passed then, and the answer has the new one.
func (st *scenario) matched() {
	st.t.Helper()
	run := st.benBoth.runs[0]
	for _, c := range []struct {
		caller user
		path   string
		change map[string]any
	}{
		{st.olivia, st.organizerPath, map[string]any{"website": "https://matched.example"}},
		{st.olivia, st.limited, map[string]any{"description": "Matched"}},
		{st.olivia, "/v1/datasets/" + st.little, map[string]any{"description": "Matched"}},
		{st.ben, st.benRegistration, map[string]any{"affiliation": "Matched"}},
		{st.ben, st.benBoth.path, map[string]any{"title": "Matched"}},
		{st.ben, run, map[string]any{"label": "Matched"}},
		{st.olivia, run + "/review", map[string]any{"comment": "Matched"}},
	} {
		tag := st.get(c.caller, c.path, nil).header.Get("ETag")
		changed := st.want(http.StatusOK, nil, c.caller, http.MethodPatch, c.path, c.change, "If-Match", tag)
		st.refused(problem.PreconditionFailed, c.caller, http.MethodPatch, c.path, c.change, "If-Match", tag)
		if is := st.get(c.caller, c.path, nil).header.Get("ETag"); is == tag || is != changed.header.Get("ETag") {
			st.t.Errorf("%s has the tag %s, its change answered %s, and it had %s", c.path, is, changed.header.Get("ETag"), tag)
		}
	}
}

func (st *scenario) repeats() {
	submissions := st.public + "/submissions"
	key := "key-" + st.tail
	body := map[string]any{"type": "image", "image": "registry.example.org/otter:2", "datasetIds": []string{st.news}}
	bad := map[string]any{"type": "image", "image": "", "datasetIds": []string{st.news}}
	before := st.list(st.ben, submissions)
	st.refused(problem.Invalid, st.ben, http.MethodPost, submissions, bad, "Idempotency-Key", key)

	answers := make([]answer, 4)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = st.ask(st.ben, http.MethodPost, submissions, body, "Idempotency-Key", key) })
	}
	all.Wait()
	last := st.want(http.StatusCreated, nil, st.ben, http.MethodPost, submissions, body, "Idempotency-Key", key)
	for _, a := range answers {
		if a.status == http.StatusConflict {
			continue // it came while the first was under way
		}
		if a.status != http.StatusCreated || !bytes.Equal(a.body, last.body) || a.header.Get("Location") != last.header.Get("Location") {
			st.t.Errorf("status %d, want the first answer again:\n%s%s", a.status, a.body, last.body)
		}
	}
	made := last.header.Get("Location")
	st.listed(st.ben, submissions, append([]string{id(made)}, before...)...)
	other := map[string]any{"type": "image", "image": "registry.example.org/otter:3", "datasetIds": []string{st.news}}
	p := st.refused(problem.IdempotencyMismatch, st.ben, http.MethodPost, submissions, other, "Idempotency-Key", key)
	st.says(p, "Idempotency-Key")
	st.refused(problem.BadRequest, st.ben, http.MethodPost, submissions, body, "Idempotency-Key", "two words")
	st.remove(st.ben, made)
	st.listed(st.ben, submissions, before...)
}
