package tools_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
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

const (
	heldQrels = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
	heldRun   = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2 1.0 tag\nq2 Q0 d3 1 1.0 tag\n"
)

// platform is a server of the tools, with a public task of olga's and a dataset of retrieval on it.
type platform struct {
	*servertest.Server
	t       testing.TB
	task    *record.TaskItem
	dataset *record.DatasetItem
}

func newPlatform(t testing.TB) *platform {
	p := &platform{Server: servertest.New(t, tools.Operations...), t: t}
	o := &record.Organizer{Meta: p.meta()}
	o.Name, o.Members = "Organizer", []string{servertest.UserID("olga")}
	p.task = &record.TaskItem{}
	p.task.Meta, p.task.OrganizerID, p.task.Name, p.task.Visibility = p.meta(), o.ID, "Task", record.Public
	p.task.Normalize()
	p.Put(o, &record.Reservation{Meta: p.meta(), At: record.MembershipKey(o.Members[0], o.ID)}, p.task)
	p.dataset = p.newDataset(record.RunFormat{Kind: "trec-run"}, record.Evaluator{Kind: "retrieval", Measures: []string{"AP"}, PrimaryMeasure: "AP"}, "qrels.txt", heldQrels)
	return p
}

func (p *platform) meta() record.Meta { return record.NewMeta(time.Now()) }

// newDataset makes a dataset with a truth of the content.
func (p *platform) newDataset(format record.RunFormat, evaluator record.Evaluator, name, truth string) *record.DatasetItem {
	p.t.Helper()
	d := &record.DatasetItem{OrganizerID: p.task.OrganizerID}
	d.Meta, d.TaskID, d.Name, d.Split, d.TruthVersion, d.RunFormat, d.Evaluator = p.meta(), p.task.ID, "Dataset", record.Validation, 1, format, evaluator
	d.Truths = []record.File{p.hold(record.HolderTruths, d.ID, name, truth)}
	p.Put(d, &record.Truth{Meta: d.Meta, TaskID: d.TaskID, Number: 1, Files: d.Truths, RunFormat: format, Evaluator: evaluator})
	return d
}

// hold stores a file.
func (p *platform) hold(h record.Holder, id, name, content string) record.File {
	p.t.Helper()
	sum := sha256.Sum256([]byte(content))
	f := record.File{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), State: record.FileStored}
	o := blob.Object{Key: record.ObjectKey(h, id, f.SHA256), Size: f.Size, SHA256: f.SHA256}
	if err := p.Files.Put(context.Background(), o, strings.NewReader(content)); err != nil {
		p.t.Fatal(err)
	}
	return f
}

// shown is the standing of a run that everybody may read.
var shown = record.Standing{Public: true, Published: true}

// run makes a run of alice's on the dataset.
func (p *platform) run(s record.Standing, content string) *record.RunItem {
	p.t.Helper()
	s.OrganizerID = p.task.OrganizerID
	r := &record.RunItem{Standing: s, Type: record.UploadType, Queue: record.QueueBuiltin}
	r.Meta, r.SubmissionID, r.TaskID, r.DatasetID = p.meta(), record.NewID(time.Now()), p.task.ID, p.dataset.ID
	r.UserID, r.Team, r.State = servertest.UserID("alice"), "Lakeside", record.Completed
	r.Files = []record.File{p.hold(record.HolderRuns, r.ID, "run.txt", content)}
	p.Put(r)
	return r
}

type object = map[string]any

func byID(r *record.RunItem) object { return object{"runId": r.ID} }

// fileOf is a file that comes along.
func fileOf(name, content string) object {
	return object{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

// along is a run of files that come along.
func along(files ...object) object { return object{"files": files} }

// packed is what write writes, packed with gzip.
func packed(write func(w io.Writer)) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	write(z)
	_ = z.Close() // a buffer takes everything
	return b.String()
}

// faults are what the problem says of members of the body.
func (p *platform) faults(status int, user, tool string, input any) (told []problem.Field) {
	p.t.Helper()
	var doc problem.Document
	p.Want(status, &doc, user, http.MethodPost, "/v1/tools/"+tool, input)
	return doc.Errors
}

// unseenAs checks that those who may not see a run are answered as they are about one that does not exist.
func (p *platform) unseenAs(tool string, input func(runID string) object) {
	p.t.Helper()
	missing := record.NewID(time.Now())
	for name, s := range map[string]record.Standing{
		"private": {}, "not published": {Public: true}, "blinded": {Public: true, Published: true, Blinded: true},
		"of a private task": {Public: true, Published: true, PrivateTask: true},
	} {
		hidden := p.run(s, heldRun).ID
		for _, user := range []string{"", "bob", "robot"} {
			of := func(id string) string {
				return string(p.Want(http.StatusNotFound, nil, user, http.MethodPost, "/v1/tools/"+tool, input(id), "X-Request-Id", "same").Body)
			}
			if got, want := of(hidden), of(missing); got != want {
				p.t.Errorf("a run that is %s is told from a missing one by %q:\n%s\n%s", name, user, got, want)
			}
		}
		p.Want(http.StatusOK, nil, "alice", http.MethodPost, "/v1/tools/"+tool, input(hidden))
		p.Want(http.StatusOK, nil, "olga", http.MethodPost, "/v1/tools/"+tool, input(hidden))
	}
}
