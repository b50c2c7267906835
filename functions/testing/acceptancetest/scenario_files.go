package acceptancetest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"

	"assay/shared/domain/record"
)

//go:embed testdata
var data embed.FS

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := data.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// inline returns a file whose content is in the request.
func inline(name string, content []byte) map[string]any {
	return map[string]any{"name": name, "mediaType": "text/plain", "content": base64.StdEncoding.EncodeToString(content)}
}

// declared returns a file whose content is uploaded later.
func declared(name string, content []byte) map[string]any {
	return map[string]any{"name": name, "mediaType": "text/plain", "size": len(content), "sha256": digestOf(content)}
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// on returns the file as a run on the dataset.
func on(dataset string, file map[string]any) map[string]any {
	file = maps.Clone(file)
	file["datasetId"] = dataset
	return file
}

// upload returns the body of a submission of files.
func upload(visibility string, files ...map[string]any) map[string]any {
	return map[string]any{"type": "upload", "title": "An entry", "visibility": visibility, "files": files, "again": true}
}

func compressed(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// cut keeps the lines of each topic of a run up to the rank.
func cut(run []byte, rank int) []byte {
	var kept strings.Builder
	for line := range strings.Lines(string(run)) {
		if n, err := strconv.Atoi(strings.Fields(line)[3]); err == nil && n <= rank {
			kept.WriteString(line)
		}
	}
	return []byte(kept.String())
}

// measures maps the measures of the datasets to the names in trec_eval.
var measures = map[string]string{
	"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank", "P@10": "P_10", "R@1000": "recall_1000", "Rprec": "Rprec", "Bpref": "bpref",
	"nDCG": "ndcg",
}

// measureNames lists the measures, the one that ranks first.
var measureNames = []string{"AP", "nDCG@10", "RR", "P@10", "R@1000", "Rprec", "Bpref", "nDCG"}

// precision is the precision of trec_eval's output.
const precision = 5e-5 + 1e-9

// references reads values that trec_eval printed, by topic and name. The topic all has the values over all topics.
func references(t testing.TB, name string) map[string]map[string]float64 {
	t.Helper()
	values := map[string]map[string]float64{}
	for line := range strings.Lines(string(read(t, name))) {
		f := strings.Fields(line)
		v, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			continue // not a number, such as the name of the run
		}
		if values[f[1]] == nil {
			values[f[1]] = map[string]float64{}
		}
		values[f[1]][f[0]] = v
	}
	return values
}

// equal checks that an evaluation has the values that trec_eval printed.
func (st *scenario) equal(e record.Evaluation, reference string) {
	st.t.Helper()
	for topic, want := range references(st.t, reference) {
		for name, printed := range measures {
			got, ok := e.PerTopic[topic][name]
			if topic == "all" && e.Measures[name] != nil {
				got, ok = *e.Measures[name], true
			}
			if !ok || math.Abs(got-want[printed]) > precision {
				st.t.Errorf("%s, topic %s: %s is %v, trec_eval has %v", reference, topic, name, got, want[printed])
			}
		}
	}
}
