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
	files := c.chosen(task)
	body := c.submission(task, files)
	if !c.yes("baseline") {
		c.requireAccepted(task)
	}
	made := c.makeSubmission(client.Path("tasks", task.id(), "submissions"), body, files)
	runs := memberAs[[]string](made, "runIds")
	if c.yes("wait") && c.err == nil {
		c.await(runs, memberAs[object](made, "quota"))
		return
	}
	c.say(made, "Submitted %s. See it with: assay runs %s", made.id(), strings.Join(runs, " "))
}

// submission returns the submission that the flags describe. A submission without files names its dataset.
func (c *call) submission(task object, files []sent) map[string]any {
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
	if c.yes("baseline") {
		body["baseline"] = true
	}
	if len(files) == 0 && c.err == nil {
		body["datasetIds"] = []string{c.dataset(task, c.text("dataset")).id()}
	}
	return body
}

// requireAccepted registers the caller for the task, and refuses to go on before the organizers have accepted the registration.
func (c *call) requireAccepted(task object) {
	r := c.register(task)
	if c.err == nil && r.text("state") != "accepted" {
		c.fail(&refusal{notFound, fmt.Sprintf("The registration of %s is %s: the organizers have to accept it first.", r.text("team"),
			r.text("state")), "the same command once they have"})
	}
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
	limit := ask[serverInfo](c, http.MethodGet, "/info", nil).Limits.InlineFiles
	if sizeOf(files) <= limit {
		return c.postInline(path, body, files)
	}
	made := c.unfinished(files)
	if made == nil {
		body["files"] = files
		made = c.post(path, body)
	}
	for _, f := range files {
		c.send(path+"/"+made.id(), "files", f)
	}
	return made
}

func sizeOf(files []sent) (size int64) {
	for _, f := range files {
		size += f.Size
	}
	return size
}

// postInline makes a submission with the content of its files in one request. An interruption waits for the answer, to print it.
func (c *call) postInline(path string, body map[string]any, files []sent) object {
	for i := range files {
		content, err := os.ReadFile(files[i].path)
		if c.fail(err) {
			return nil
		}
		files[i].Content = base64.StdEncoding.EncodeToString(content)
	}
	if len(files) > 0 {
		body["files"] = files
	}
	interruptible := c.ctx
	defer func() { c.ctx = interruptible }()
	c.ctx = context.WithoutCancel(c.ctx)
	return c.post(path, body)
}

// unfinished returns the caller's submission with the same files whose upload was interrupted, or nil.
func (c *call) unfinished(files []sent) object {
	pending := client.Query(client.Path("runs"), "filter[userId]", c.me().ID, "filter[state]", "awaiting-upload")
	for _, r := range all[object](c, pending) {
		s := c.get(client.Path("tasks", r.text("taskId"), "submissions", r.text("submissionId")))
		if sameFiles(filesOf(s, "files"), files) {
			c.note("Going on with the submission %s, whose upload was interrupted.", s.id())
			return s
		}
	}
	return nil
}

// sameFiles reports whether two lists have the same files in any order.
func sameFiles(a, b []sent) bool {
	for _, f := range a {
		if !slices.ContainsFunc(b, f.same) {
			return false
		}
	}
	return len(a) == len(b)
}

// send uploads a file of a member of the resource at the path, unless the file is stored already.
func (c *call) send(path, member string, f sent) {
	if c.err != nil {
		return
	}
	link := func(ctx context.Context) (*record.Upload, error) { return c.uploadLink(ctx, path, member, f) }
	c.err = client.Send(c.ctx, f.path, link, c.progress())
}

// uploadLink returns a new link to upload the file, or nil if the file is stored already or the resource no longer names it.
func (c *call) uploadLink(ctx context.Context, path, member string, f sent) (*record.Upload, error) {
	resource, err := client.Get[object](ctx, c.Client, path)
	if err != nil {
		return nil, err
	}
	files := filesOf(resource, member)
	i := slices.IndexFunc(files, f.same)
	if i < 0 || files[i].State == record.FileStored {
		return nil, nil
	}
	return files[i].Upload, nil
}
