package acceptancetest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"assay/shared/problem"
	"assay/shared/record"
)

// retrieval is a dataset of documents to rank.
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
	if news.TruthVersion != 1 || news.Evaluator.PrimaryMeasure != "AP" || news.Truths[0].State != record.FileStored {
		st.t.Errorf("%+v, want the first version of the truth, by AP", news)
	}
	st.uploadedTruth()
	st.hidden = id(st.post(st.olivia, "/v1/datasets", newDataset(id(st.private), "training")))
	st.little = id(st.post(st.olivia, "/v1/datasets", newDataset(id(st.limited), "training")))

	st.listed(st.anyone, "/v1/datasets?filter[taskId]="+id(st.public)+","+id(st.private), st.cacm, st.news)
	st.listed(st.olivia, "/v1/datasets?filter[taskId]="+id(st.public)+","+id(st.private), st.hidden, st.cacm, st.news)
	st.refused(problem.NotFound, st.sam, http.MethodGet, "/v1/datasets/"+st.hidden, nil)

	var shown record.Dataset
	st.get(st.anyone, "/v1/datasets/"+st.news, &shown)
	if status, got := st.download(shown.Inputs[0].URL); status != http.StatusOK || !bytes.Equal(got, topics) {
		st.t.Errorf("the link of an input leads to %d, %q", status, got)
	}
	st.renamedInput()
	st.get(st.olivia, "/v1/datasets/"+st.news, &shown)
	if status, got := st.download(shown.Truths[0].URL); status != http.StatusOK || !bytes.Equal(got, qrels) {
		st.t.Errorf("the link of a truth leads its organizer to %d, %d bytes", status, len(got))
	}
	if status, _ := st.download(strings.Replace(shown.Truths[0].URL, st.news, st.cacm, 1)); status < http.StatusBadRequest {
		st.t.Errorf("a link that was changed leads to %d", status)
	}
}

// renamedInput gives a file another name, under which its bytes are still there, and takes away a link, which is not its to take.
func (st *scenario) renamedInput() {
	st.t.Helper()
	var renamed, same record.Dataset
	path := "/v1/datasets/" + st.news
	rename := edits("replace", "/inputs/0/name", "queries.txt")
	st.want(http.StatusOK, &renamed, st.olivia, http.MethodPatch, path, rename, "Content-Type", jsonPatch)
	if f := renamed.Inputs[0]; f.Name != "queries.txt" || f.State != record.FileStored || renamed.TruthVersion != 1 {
		st.t.Errorf("%+v, want a file that is there by another name, and the same truth", renamed)
	}
	if status, _ := st.download(renamed.Inputs[0].URL); status != http.StatusOK {
		st.t.Errorf("the link of a renamed file leads to %d", status)
	}
	st.want(http.StatusOK, &same, st.olivia, http.MethodPatch, path, edits("remove", "/inputs/0/url", nil), "Content-Type", jsonPatch)
	if same.Version != renamed.Version || same.Inputs[0].URL == "" {
		st.t.Errorf("%+v, want nothing changed", same)
	}
}

// uploadedTruth makes a dataset whose truth goes straight to the object store.
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
	wrong := bytes.ToLower(qrels)
	if status := st.put(truth.Upload, wrong); status < 400 || status >= 500 {
		st.t.Errorf("bytes that are not those of the truth are answered with %d", status)
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
