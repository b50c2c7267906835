package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
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

func submit(c *call, task object) {
	files, datasets := c.chosen(task)
	body := c.submission(files, datasets)
	by := "as a baseline of its organizers"
	if !c.yes("baseline") {
		by = c.requireAccepted(task)
	} else if ignored := c.teamChanges(nil); len(ignored) > 0 {
		c.fail(&refusal{failed, "A baseline has no team, so it does not go with " + flagsOf(ignored) + ".",
			"the same command without these flags"})
	}
	c.me()
	if c.err != nil {
		return
	}
	c.note("%s submits to %s, dataset %s, %s.", c.me().name(), task.text("name"), strings.Join(names(datasets), " and "), by)
	made := c.makeSubmission(client.Path("tasks", task.id(), "submissions"), body, files)
	runs := memberAs[[]string](made, "runIds")
	if c.yes("wait") && c.err == nil {
		c.await(runs, memberAs[object](made, "quota"))
		return
	}
	c.say(made, "Submitted %s. See it with: assay runs %s", made.id(), strings.Join(runs, " "))
}

// names returns the names of resources.
func names(of []object) []string {
	return lists.Map(of, func(o object) string { return o.text("name") })
}

// submission returns the submission that the flags describe. A submission without files names its dataset.
func (c *call) submission(files []sent, datasets []object) map[string]any {
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
		body["datasetIds"] = lists.Map(datasets, object.id)
	}
	return body
}

// requireAccepted registers the caller for the task, and refuses to go on before the organizers have accepted the registration. It returns
// the team in words.
func (c *call) requireAccepted(task object) string {
	r := c.registration(task)
	changes := c.teamChanges(r)
	switch {
	case r == nil:
		r = c.register(task)
	case len(changes) > 0:
		heal := fmt.Sprintf("assay join %q", c.arg(0))
		for _, name := range slices.Sorted(maps.Keys(changes)) {
			heal += fmt.Sprintf(" --%s=%q", name, fmt.Sprint(changes[name]))
		}
		c.fail(&refusal{failed, fmt.Sprintf("You are in the team %s of %s already, and submit does not change it: leave %s out.", r.text("team"),
			task.text("name"), flagsOf(changes)), heal + " changes it"})
	default:
		r = c.changeTeam(task, r, nil)
	}
	if c.err == nil && r.text("state") != "accepted" {
		c.fail(&refusal{notFound, fmt.Sprintf("The registration of %s is %s: the organizers have to accept it first.", r.text("team"),
			r.text("state")), "the same command once they have"})
	}
	team := "for the team " + r.text("team")
	if memberAs[bool](r, "anonymous") {
		team += ", which others see as " + r.text("alias")
	}
	return team
}

// chosen returns the files that the arguments name, and the datasets that they or the submission are for. It refuses files that the server
// would refuse, before anything is sent or counted.
func (c *call) chosen(task object) (files []sent, datasets []object) {
	if len(c.args) < 2 {
		if c.text("image")+c.text("repository") == "" {
			c.fail(&refusal{failed, "There is nothing to submit.", "assay submit TASK FILE, or --image or --repository"})
		}
		return nil, []object{c.dataset(task, c.text("dataset"))}
	}
	var paths []string
	for _, a := range c.args[1:] {
		_, path, _ := strings.Cut(a, "=")
		paths = append(paths, a, path)
	}
	c.requireOnce(paths)
	for _, a := range c.args[1:] {
		name, path, named := strings.Cut(a, "=")
		if !named || isFile(a) {
			name, path = c.text("dataset"), a
		} else if c.flags.Changed("dataset") {
			c.fail(&refusal{failed, fmt.Sprintf("%q names its dataset, and so does --dataset.", a), "the same command with one of both"})
		}
		path = c.saved(path)
		file := c.digest(path)
		d := c.dataset(task, name)
		c.validFor(d, path)
		files = append(files, sent{path, d.id(), file})
		if !slices.ContainsFunc(datasets, func(o object) bool { return o.id() == d.id() }) {
			datasets = append(datasets, d)
		}
	}
	return files, datasets
}

// digest returns a file to send. It refuses a file that is larger than the server takes, or empty, before it reads the file.
func (c *call) digest(path string) (file record.File) {
	if c.err != nil {
		return file
	}
	info, err := os.Stat(path)
	if c.fail(err) {
		return file
	}
	most := c.info().Limits.File
	switch {
	case !info.Mode().IsRegular(): // Digest says so.
	case info.Size() == 0:
		c.fail(&refusal{fileRefused, path + " is empty.", ""})
	case most > 0 && info.Size() > most:
		c.fail(&refusal{fileRefused, fmt.Sprintf("%s has %s, and this server takes files of at most %s.", path, sizeInWords(info.Size()),
			sizeInWords(most)), ""})
	}
	if c.err == nil {
		file, err = client.Digest(os.Open(path))
		c.fail(err)
	}
	return file
}

// validFor refuses a file that the evaluator of a dataset would refuse.
func (c *call) validFor(dataset object, path string) {
	kind := dataset.text("evaluator.kind")
	if c.err != nil || kind == "worker" { // Only the image of the worker can read its runs.
		return
	}
	s := settingsOf(dataset)
	if s.Kind.Ranks() && c.fail(c.requireTREC(nil, offline.Files(path)...)) {
		return
	}
	c.fail(c.diagnosed(scoring.ValidateRun(c.ctx, s, offline.Files(path))))
}

// settingsOf returns the settings of the evaluator of a dataset.
func settingsOf(dataset object) scoring.Settings {
	return truth.Settings(memberAs[record.RunFormat](dataset, "runFormat"), memberAs[record.Evaluator](dataset, "evaluator"))
}

// makeSubmission makes a submission at the path, and sends its files. If the upload of a submission with the same files was interrupted, it
// continues this submission.
func (c *call) makeSubmission(path string, body map[string]any, files []sent) object {
	if sizeOf(files) <= c.info().Limits.InlineFiles {
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
	c.err = c.Send(c.ctx, f.path, link, c.progress())
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
