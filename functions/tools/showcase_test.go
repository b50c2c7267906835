package tools_test

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/functions/tools"
	"assay/shared/api/servertest"
	"assay/shared/blob"
	"assay/shared/problem"
	"assay/shared/record"
)

// m is an object of JSON.
type m = map[string]any

// sent are files that come along, of pairs of a name and a content.
func sent(pairs ...string) m {
	var files []m
	for i := 0; i < len(pairs); i += 2 {
		files = append(files, m{"name": pairs[i], "content": base64.StdEncoding.EncodeToString([]byte(pairs[i+1]))})
	}
	return m{"files": files}
}

// named is a run that comes along under the name.
func named(name, content string) m {
	r := sent("run.txt", content)
	r["name"] = name
	return r
}

// ranked writes a run: each text is a topic, and after its space a document for each letter, best first.
func ranked(topics ...string) string {
	var b strings.Builder
	for _, text := range topics {
		topic, letters, _ := strings.Cut(text, " ")
		for i, letter := range letters {
			b.WriteString(topic + " Q0 " + string(letter) + " 0 " + string(rune('9'-i)) + " x\n")
		}
	}
	return b.String()
}

const (
	keptQrels     = "1 0 a 2\n1 0 b 0\n2 0 c 1\n"
	keptDocuments = "a\tAn anchor holds a boat.\nb\tA boat floats.\nc\tA canal is dug.\n"
	keptQueries   = "1\tboats at anchor\n2\tcanals\n"
)

// showcase is a server of the tools, with a task of olga's and a dataset of retrieval that has judgments and texts.
type showcase struct {
	*servertest.Server
	t       testing.TB
	task    *record.TaskItem
	dataset *record.DatasetItem
}

func newShowcase(t testing.TB, v record.Visibility) *showcase {
	s := &showcase{Server: servertest.New(t, tools.Operations...), t: t}
	o := &record.Organizer{Meta: s.meta()}
	o.Name, o.Members = "Organizer", []string{servertest.UserID("olga")}
	s.task = &record.TaskItem{}
	s.task.Meta, s.task.OrganizerID, s.task.Name, s.task.Visibility = s.meta(), o.ID, "Task", v
	s.task.Normalize()
	d := &record.DatasetItem{OrganizerID: o.ID, PrivateTask: v == record.Private}
	d.Meta, d.TaskID, d.Name, d.Split, d.TruthVersion = s.meta(), s.task.ID, "Dataset", record.Validation, 1
	d.RunFormat, d.Evaluator = record.RunFormat{Kind: "trec-run"}, record.Evaluator{Kind: "retrieval", Measures: []string{"P@1", "AP"}, PrimaryMeasure: "P@1"}
	d.Inputs = []record.File{
		s.hold(record.HolderInputs, d.ID, "documents.tsv", keptDocuments),
		s.hold(record.HolderInputs, d.ID, "queries.tsv", keptQueries),
	}
	d.Truths = []record.File{s.hold(record.HolderTruths, d.ID, "qrels.txt", keptQrels)}
	s.dataset = d
	s.Put(o, &record.Reservation{Meta: s.meta(), At: record.MembershipKey(o.Members[0], o.ID)}, s.task, d,
		&record.Truth{Meta: d.Meta, TaskID: d.TaskID, Number: 1, Files: d.Truths, RunFormat: d.RunFormat, Evaluator: d.Evaluator})
	return s
}

func (s *showcase) meta() record.Meta { return record.NewMeta(time.Now()) }

// hold stores a file.
func (s *showcase) hold(h record.Holder, id, name, content string) record.File {
	s.t.Helper()
	sum := sha256.Sum256([]byte(content))
	f := record.File{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), State: record.FileStored}
	o := blob.Object{Key: record.ObjectKey(h, id, f.SHA256), Size: f.Size, SHA256: f.SHA256}
	if err := s.Files.Put(context.Background(), o, strings.NewReader(content)); err != nil {
		s.t.Fatal(err)
	}
	return f
}

// published is how a run stands that everybody may see, if they may see its task.
var published = record.Standing{Public: true, Published: true}

// run makes a run of alice's with an evaluation, whose value in topic 1 is as given.
func (s *showcase) run(standing record.Standing, content string, value float64) m {
	s.t.Helper()
	standing.OrganizerID, standing.PrivateTask = s.task.OrganizerID, s.dataset.PrivateTask
	r := &record.RunItem{Standing: standing, Type: record.UploadType, Queue: record.QueueBuiltin}
	r.Meta, r.SubmissionID, r.TaskID, r.DatasetID = s.meta(), record.NewID(time.Now()), s.task.ID, s.dataset.ID
	r.UserID, r.Team, r.State = servertest.UserID("alice"), "Lakeside", record.Completed
	r.Files = []record.File{s.hold(record.HolderRuns, r.ID, "run.txt", content)}
	e := &record.EvaluationItem{Standing: standing, Columns: s.dataset.Evaluator.Measures}
	e.Meta, e.RunID, e.SubmissionID, e.TaskID, e.DatasetID, e.UserID, e.Team = s.meta(), r.ID, r.SubmissionID, r.TaskID, r.DatasetID, r.UserID, r.Team
	e.TruthVersion, e.PrimaryMeasure, e.Evaluator.Kind = 1, "P@1", "retrieval"
	mean := value / 2
	e.Measures = map[string]*float64{"P@1": &mean, "AP": &mean}
	r.EvaluationID, r.Evaluations = e.ID, []string{e.ID}
	s.Put(r, e, &record.Topics{Meta: e.Meta, PerTopic: map[string]map[string]float64{"1": {"P@1": value, "AP": value}, "2": {"P@1": 0, "AP": 0}}})
	return m{"runId": r.ID}
}

// faulty posts an input that must be refused and returns what is told of it.
func (s *showcase) faulty(status int, user, tool string, input m) (told []problem.Field) {
	s.t.Helper()
	var p struct{ Errors []problem.Field }
	s.Want(status, &p, user, http.MethodPost, "/v1/tools/"+tool, input)
	return p.Errors
}

// page posts an input and returns the page.
func (s *showcase) page(user, tool string, input m) string {
	s.t.Helper()
	return string(s.Want(http.StatusOK, nil, user, http.MethodPost, "/v1/tools/"+tool, input, "Accept", "text/html").Body)
}

// with is the input with members added or, when they are nil, taken out.
func with(input m, pairs ...any) m {
	out := m{}
	for name, value := range input {
		out[name] = value
	}
	for i := 0; i < len(pairs); i += 2 {
		if out[pairs[i].(string)] = pairs[i+1]; pairs[i+1] == nil {
			delete(out, pairs[i].(string))
		}
	}
	return out
}

// asJSON is a value as it is sent.
func asJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// intruders are texts that try to be more than text, and have no space, so that ids can have them.
var intruders = []string{
	`<script>window.intruded=1</script>`,
	`"><img/src=x/onerror="window.intruded=1"data-intruder>`,
	`</style></title></script><b/data-intruder>`,
	`'onmouseover='window.intruded=1'data-intruder='`,
	"javascript:window.intruded=1",
	"\u202Egnol-dna-" + strings.Repeat("unbroken", 12),
}

// intrusion has the intruders wherever a page shows something of a user's: two runs, their topics, documents and texts.
func intrusion() (runs []m, texts m) {
	var lines [2]strings.Builder
	var documents, queries strings.Builder
	for i, topic := range intruders {
		queries.WriteString(asLine(m{"id": topic, "query": topic + " water"}))
		for j := range intruders {
			document := intruders[(i+j)%len(intruders)]
			for run := range lines {
				lines[run].WriteString(topic + " Q0 " + document + " 0 " + string(rune('9'-j*(1-run))) + " x\n")
			}
		}
	}
	for _, document := range intruders {
		documents.WriteString(asLine(m{"id": document, "title": document, "text": document + " water " + document}))
	}
	for run, name := range []string{intruders[0], intruders[2]} {
		runs = append(runs, named(name, squeezed(lines[run].String())))
	}
	return runs, sent("documents.jsonl", squeezed(documents.String()), "queries.jsonl", squeezed(queries.String()))
}

// squeezed is a content packed with gzip, so that an input with it is short enough for an address.
func squeezed(content string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(content)) // a Builder takes everything
	_ = w.Close()
	return b.String()
}

func asLine(object m) string {
	line, _ := json.Marshal(object)
	return string(line) + "\n"
}
