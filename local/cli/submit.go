package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/service/truth"
)

// sent is a file of a submission, with its path on this machine.
type sent struct {
	path      string
	DatasetID string `json:"datasetId,omitempty"`
	record.File
}

func (s sent) same(as sent) bool {
	return s.DatasetID == as.DatasetID && s.Name == as.Name && s.SHA256 == as.SHA256
}

// settable maps flags of submit to members of a submission.
var settable = map[string]string{"title": "title", "description": "description", "notes": "notes", "paper": "paperUrl", "image": "image",
	"repository": "url", "ref": "ref", "command": "command"}

func submit(c *call, task object) {
	body := map[string]any{"type": "upload"}
	c.fill(body, settable)
	for _, kind := range []string{"image", "repository"} {
		if c.text(kind) != "" {
			body["type"] = kind
		}
	}
	if c.yes("public") {
		body["visibility"] = "public"
	}
	files := c.chosen(task)
	if len(files) == 0 && c.err == nil {
		body["datasetIds"] = []string{c.dataset(task, c.text("dataset")).id()}
	}
	if c.yes("baseline") {
		body["baseline"] = true
	} else if r := c.register(task); c.err == nil && r.text("state") != "accepted" {
		c.fail(&refusal{notFound, fmt.Sprintf("The registration of %s is %s: the organizers have to accept it first.", r.text("team"),
			r.text("state")), "the same command once they have"})
	}
	made := c.makeSubmission(client.Path("tasks", task.id(), "submissions"), body, files)
	runs := memberAs[[]string](made, "runIds")
	if c.yes("wait") && c.err == nil {
		c.await(runs, memberAs[object](made, "quota"))
		return
	}
	c.say(made, "Submitted %s. See it with: assay runs %s", made.id(), strings.Join(runs, " "))
}

// chosen returns the files that the arguments name. It refuses files that the server would refuse, before anything is sent or counted.
func (c *call) chosen(task object) (files []sent) {
	if len(c.args) < 2 && c.text("image")+c.text("repository") == "" {
		c.fail(&refusal{failed, "There is nothing to submit.", "assay submit TASK FILE, or --image or --repository"})
	}
	for _, a := range c.args[1:] {
		name, path, named := strings.Cut(a, "=")
		if !named || isFile(a) {
			name, path = c.text("dataset"), a
		}
		file, err := client.Digest(os.Open(path))
		c.fail(err)
		d := c.dataset(task, name)
		c.validFor(d, path)
		files = append(files, sent{path, d.id(), file})
	}
	return files
}

// validFor refuses a file that the evaluator of a dataset would refuse.
func (c *call) validFor(dataset object, path string) {
	kind := dataset.text("evaluator.kind")
	if c.err != nil || kind == "worker" { // Only the image of the worker can read its runs.
		return
	}
	c.fail(c.diagnosed(scoring.ValidateRun(c.ctx, settingsOf(dataset), offline.Files(path))))
}

// settingsOf returns the settings of the evaluator of a dataset.
func settingsOf(dataset object) scoring.Settings {
	return truth.Settings(memberAs[record.RunFormat](dataset, "runFormat"), memberAs[record.Evaluator](dataset, "evaluator"))
}

// makeSubmission makes a submission at the path, and sends its files. If the upload of a submission with the same files was interrupted, it
// continues this submission.
func (c *call) makeSubmission(path string, body map[string]any, files []sent) object {
	inline := ask[serverInfo](c, http.MethodGet, "/info", nil).Limits.InlineFiles
	for _, f := range files {
		inline -= f.Size
	}
	for i := range files {
		if inline >= 0 && c.err == nil {
			content, err := os.ReadFile(files[i].path)
			files[i].Content, c.err = base64.StdEncoding.EncodeToString(content), err
		}
	}
	if len(files) > 0 {
		body["files"] = files
	}
	if inline >= 0 {
		defer func(ctx context.Context) { c.ctx = ctx }(c.ctx)
		c.ctx = context.WithoutCancel(c.ctx) // One request makes everything. An interruption waits for its answer, to print it.
		return c.post(path, body)
	}
	made := c.unfinished(files)
	if made == nil {
		made = c.post(path, body)
	}
	for _, f := range files {
		c.send(path+"/"+made.id(), "files", f)
	}
	return made
}

// unfinished returns the caller's submission with the same files whose upload was interrupted, or nil.
func (c *call) unfinished(files []sent) object {
	pending := client.Query(client.Path("runs"), "filter[userId]", c.me().ID, "filter[state]", "awaiting-upload")
	for _, r := range all[object](c, pending) {
		s := c.get(client.Path("tasks", r.text("taskId"), "submissions", r.text("submissionId")))
		has := filesOf(s, "files")
		other := func(f sent) bool { return !slices.ContainsFunc(files, f.same) }
		if len(has) == len(files) && !slices.ContainsFunc(has, other) {
			c.note("Going on with the submission %s, whose upload was interrupted.", s.id())
			return s
		}
	}
	return nil
}

// send uploads a file of a member of the resource at the path, unless the file is stored already.
func (c *call) send(path, member string, f sent) {
	if c.err != nil {
		return
	}
	c.err = client.Send(c.ctx, f.path, func(ctx context.Context) (*record.Upload, error) {
		now, err := client.Get[object](ctx, c.Client, path)
		if err != nil {
			return nil, err
		}
		files := filesOf(now, member)
		i := slices.IndexFunc(files, f.same)
		if i < 0 || files[i].State == record.FileStored {
			return nil, nil
		}
		return files[i].Upload, nil
	}, c.progress())
}
