package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
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

// imageName is the form of names of images: no blanks, and no other characters that registries refuse.
var imageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`)

func submit(c *call, task object) {
	if image := c.text("image"); image != "" && !imageName.MatchString(image) {
		c.fail(&refusal{failed, fmt.Sprintf("--image: %q is no name of an image.", image), "--image ghcr.io/otters/search:1"})
		return
	}
	c.requireTerms(task)
	if c.yes("baseline") {
		c.requireOrganizer(task, "submit baselines", "the same command without --baseline, for your team")
	}
	files, datasets := c.chosen(task)
	var registered object
	var refused *refusal
	if !c.yes("baseline") {
		registered = c.registration(task)
		if c.err == nil {
			refused = c.refusalBefore(task, registered, datasets)
		}
	}
	closed := ""
	switch {
	case refused != nil && registered == nil:
		c.fail(refused)
	case refused != nil: // The server knows earlier submissions of the same. It admits no others before the team takes part with all terms.
		closed = refused.text
	case c.yes("baseline"):
		c.validFor(datasets, files)
		c.tellBaseline(task, datasets)
	case registered == nil, lacksTerms(task, registered):
		c.validFor(datasets, files) // A faulty file registers nobody, and accepts no terms.
		closed = c.tellTeam(task, registered, datasets)
	default:
		closed = c.tellTeam(task, registered, datasets)
		if closed == "" {
			c.validFor(datasets, files)
		}
	}
	body := c.submission(files, datasets)
	made := c.makeSubmission(client.Path("tasks", task.id(), "submissions"), body, files, closed)
	if refused != nil && client.IsKind(c.err, problem.Forbidden) {
		c.err = refused
	}
	runs := memberAs[[]string](made, "runIds")
	if c.yes("wait") && c.err == nil {
		c.await(runs, func() [][]string {
			if c.yes("baseline") { // No quota counts it.
				return nil
			}
			return c.left(task, datasets)
		})
	} else {
		c.say(made, "Submitted %s. See it with: assay runs %s", made.id(), strings.Join(runs, " "))
	}
	c.tellFinals(task, datasets, runs)
}

// tellBaseline says who submits a baseline, and whether its runs would wait for a worker.
func (c *call) tellBaseline(task object, datasets []object) {
	c.tellSubmitter(task, datasets, "as a baseline of its organizers")
	for _, d := range datasets {
		unserved := unservedType(memberAs[[]record.SubmissionType](c.get(client.Path("datasets", d.id())), "unservedTypes"), c.submissionType())
		if unserved != "" && c.err == nil {
			c.note("%s: %s", d.text("name"), unserved)
		}
	}
}

// tellTeam says for which team the caller submits, and what its quota is. registered is nil before the caller has a registration. tellTeam
// returns why not all datasets take a run of the team, or "".
func (c *call) tellTeam(task, registered object, datasets []object) (closed string) {
	r, team := c.requireAccepted(task, registered)
	q := c.quotaOf(task, r)
	c.tellSubmitter(task, datasets, team)
	if c.err != nil {
		return ""
	}
	return c.tellQuota(datasets, q)
}

// tellSubmitter says who submits to which datasets.
func (c *call) tellSubmitter(task object, datasets []object, by string) {
	who := c.me()
	if c.err == nil {
		noun := "dataset"
		if len(datasets) > 1 {
			noun = "datasets"
		}
		c.note("%s submits to %s, %s %s, %s.", who.name(), task.text("name"), noun, strings.Join(names(datasets), " and "), by)
	}
}

// names returns the names of resources.
func names(of []object) []string {
	return lists.Map(of, func(o object) string { return o.text("name") })
}

// submission returns the submission that the flags describe. A submission without files names its dataset.
func (c *call) submission(files []sent, datasets []object) map[string]any {
	body := map[string]any{"type": c.submissionType()}
	c.fill(body, settable)
	if c.yes("public") {
		body["visibility"] = "public"
	}
	for _, flag := range []string{"baseline", "again"} {
		if c.yes(flag) {
			body[flag] = true
		}
	}
	if len(files) == 0 && c.err == nil {
		body["datasetIds"] = lists.Map(datasets, object.id)
	}
	return body
}

// submissionType returns the type of the submission that the flags describe.
func (c *call) submissionType() record.SubmissionType {
	switch {
	case c.text("repository") != "":
		return record.RepositoryType
	case c.text("image") != "":
		return record.ImageType
	}
	return record.UploadType
}

// requireAccepted registers the caller for the task if r is nil, and refuses to go on before the organizers have accepted the registration.
// It returns the registration, and the team in words.
func (c *call) requireAccepted(task, r object) (_ object, team string) {
	if r == nil {
		r = c.register(task)
	} else if r.text("state") == string(record.Accepted) {
		c.refuseChanges(task, r)
		r = c.changeTeam(task, r, nil)
	}
	if state := r.text("state"); c.err == nil && state != string(record.Accepted) {
		c.fail(&refusal{notFound, notAccepted(task, r), map[string]string{"pending": "the same command once they have accepted it"}[state]})
	}
	team = "for the team " + r.text("team")
	if memberAs[bool](r, "anonymous") {
		team += ", which others see as " + r.text("alias")
	}
	return r, team
}

// refuseChanges refuses flags that would change the registration r. It names the command that changes it to the owner of the team.
func (c *call) refuseChanges(task, r object) {
	changes := c.teamChanges(r)
	c.requireOwner(task, r, changes)
	if len(changes) == 0 || c.err != nil {
		return
	}
	heal := "assay join " + offline.Quoted(c.arg(0))
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		heal += " --" + name + "=" + offline.Quoted(fmt.Sprint(changes[name]))
	}
	c.fail(&refusal{failed, fmt.Sprintf("You are in the team %s of %s already, and submit does not change it: leave %s out.",
		r.text("team"), task.text("name"), flagsOf(changes)), heal})
}

// notAccepted says why a team does not take part.
func notAccepted(task, r object) string {
	if r.text("state") == "rejected" {
		return fmt.Sprintf("The organizers of %s rejected the team %s, so it does not take part. Ask them, if that is a mistake.",
			task.text("name"), r.text("team"))
	}
	return fmt.Sprintf("The team %s waits for the organizers of %s, who have to accept it first.", r.text("team"), task.text("name"))
}

// chosen returns the files that the arguments name, and the datasets that they or the submission are for.
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
		d := c.dataset(task, name)
		file := c.digest(path, c.mostBytes(d))
		files = append(files, sent{path, d.id(), file})
		if !slices.ContainsFunc(datasets, func(o object) bool { return o.id() == d.id() }) {
			datasets = append(datasets, d)
		}
	}
	return files, datasets
}

// mostBytes returns the largest size of a file of a run for a dataset. Built-in evaluators read less than the server stores.
func (c *call) mostBytes(dataset object) int64 {
	limits := c.info().Limits
	if limits.EvaluatedFiles > 0 && dataset.text("evaluator.kind") != "worker" {
		return min(limits.File, limits.EvaluatedFiles)
	}
	return limits.File
}

// digest returns a file to send. It refuses a file with more bytes than the server takes, and an empty one, before it reads the file.
func (c *call) digest(path string, most int64) (file record.File) {
	if c.err != nil {
		return file
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		c.fail(&refusal{fileRefused, err.Error(), ""})
	case !info.Mode().IsRegular(): // Digest says so.
	case info.Size() == 0:
		c.fail(&refusal{fileRefused, path + " is empty.", ""})
	case info.Size() > most && most > 0:
		c.fail(&refusal{fileRefused, fmt.Sprintf("%s has %s, and this server takes files of at most %s for it.", path,
			sizeInWords(info.Size()), sizeInWords(most)), ""})
	}
	if c.err == nil {
		file, err = client.Digest(os.Open(path))
		c.fail(err)
	}
	return file
}

// validFor refuses files that the evaluators of their datasets would refuse, before anything is sent or counted.
func (c *call) validFor(datasets []object, files []sent) {
	for _, f := range files {
		i := slices.IndexFunc(datasets, func(d object) bool { return d.id() == f.DatasetID })
		if c.err != nil || datasets[i].text("evaluator.kind") == "worker" { // Only the image of the worker can read its runs.
			continue
		}
		s := settingsOf(datasets[i])
		list := offline.Files(f.path)
		if c.temporary != "" && filepath.Dir(f.path) == c.temporary {
			list[0].Name = stdin
		}
		switch {
		case s.Kind.Ranks():
			c.fail(c.requireTREC(nil, list...))
		case measure.HasFields(s.Format.Kind):
			c.fail(c.requireFormat(s.Kind, s.Format, false, list...))
		}
		if c.err != nil {
			return
		}
		c.fail(c.diagnosed(scoring.ValidateRun(c.ctx, s, list)))
	}
}

// settingsOf returns the settings of the evaluator of a dataset.
func settingsOf(dataset object) scoring.Settings {
	return truth.Settings(memberAs[record.RunFormat](dataset, "runFormat"), memberAs[record.Evaluator](dataset, "evaluator"))
}

// makeSubmission makes a submission at the path, and sends its files. If the team has submitted the same before, it continues with that
// submission, whose upload may have been interrupted. If a dataset is closed, the server has to admit the submission first.
func (c *call) makeSubmission(path string, body map[string]any, files []sent, closed string) object {
	if closed == "" && sizeOf(files) <= c.info().Limits.InlineFiles {
		return c.postInline(path, body, files)
	}
	var made object
	if c.yes("baseline") { // The server does not know baselines again.
		made = c.unfinished(files)
	}
	if made == nil {
		if len(files) > 0 {
			body["files"] = files
		}
		made = c.postSubmission(path, body, closed)
	}
	for _, f := range files {
		c.send(path+"/"+made.id(), "files", f)
	}
	if errors.Is(c.err, context.Canceled) && made != nil {
		c.err = &refusal{interrupted, "Interrupted. The submission " + made.id() + " waits for its files.",
			"the same command, which goes on with it"}
	}
	return made
}

// postSubmission makes a submission. If it is an earlier one of the team, postSubmission says so, and whether --again makes a new one now:
// closed is the reason against it, or "".
func (c *call) postSubmission(path string, body map[string]any, closed string) (made object) {
	if c.err != nil {
		return nil
	}
	a, err := c.Do(c.ctx, client.Request{Method: http.MethodPost, Path: path, Body: body})
	if c.fail(err) || c.fail(json.Unmarshal(a.Body, &made)) || a.Status != http.StatusOK {
		return made
	}
	if slices.ContainsFunc(filesOf(made, "files"), func(f sent) bool { return f.State == record.FilePending }) {
		c.note("Going on with the submission %s, whose upload was interrupted.", made.id())
	} else {
		again := "--again makes a new one."
		if closed != "" {
			again = "A new one is not possible now. " + closed
		}
		c.note("Your team submitted the same at %s. This is that submission, and nothing more is counted. %s", made.text("createdAt"), again)
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
	return c.postSubmission(path, body, "")
}

// unfinished returns the caller's baseline with the same files whose upload was interrupted, or nil.
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
