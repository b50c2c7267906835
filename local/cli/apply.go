package main

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/local/cli/client"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
)

// step describes the change of one resource by applying a file, or in a dry run the change that would be made.
type step struct {
	Resource string   `json:"resource"` // kind and name, such as task Lake search
	Action   string   `json:"action"`   // create, change or none
	Members  []string `json:"members,omitempty"`
	Effects  []string `json:"effects,omitempty"` // in sentences
	ID       string   `json:"id,omitempty"`
	Advice   string   `json:"advice,omitempty"` // advice of a dataset for its organizers
	Truth    []string `json:"truth,omitempty"`  // what a dataset's truth has, and what is probably wrong with it
}

// actions maps the action of a step to its words, after the change and in a dry run.
var actions = map[string][2]string{
	"create": {"created", "would create"}, "change": {"changed", "would change"}, "none": {"unchanged", "would not change"},
}

// applying is the state of one apply command.
type applying struct {
	*call
	*declared
	dry    bool
	steps  []step
	rules  record.SubmissionRules // rules of the task after the change
	advice map[int]string         // advice for datasets with new truths, by index, because the server has not read these yet
	truths map[int][]string       // the same for what the truths have
	faulty *client.Problem        // all faults of the file that the dry run has found; nil if there is none
	// outdated reports whether a dry run has previewed a dataset with the stored task, although it would change rules of the task.
	outdated bool
	// uncounted reports whether a dry run has met resources of a new organizer or task, for which the server previews no effects.
	uncounted bool
}

func applyFile(c *call) {
	if c.yes("schema") {
		_, err := c.out.Write(schema)
		c.fail(err)
		return
	}
	d, err := readDeclared(c.files(c.arg(0))[0])
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		c.fail(err)
		return
	}
	if err != nil {
		c.fail(&refusal{fileRefused, err.Error(), "assay apply --schema"})
		return
	}
	c.words.file = d
	c.connect("")
	a := applying{call: c, declared: d, dry: true, advice: map[int]string{}, truths: map[int][]string{}}
	a.apply()
	if a.err == nil && !c.yes("dry-run") { // The dry run has found no fault, so the changes begin.
		a.dry, a.steps = false, nil
		a.apply()
	}
	if client.IsKind(a.err, problem.Invalid) {
		a.err = &refusal{fileRefused, a.err.Error(), ""}
	}
	if a.dry && !c.yes("dry-run") { // Nothing was changed, and nobody asked what would be.
		a.steps = nil
	}
	isAdvice := map[string]bool{} // advice of a dataset, which its own step prints
	for _, s := range a.steps {
		isAdvice[s.Advice] = true
	}
	var lines [][]string
	for _, s := range a.steps {
		line := actions[s.Action][map[bool]int{true: 1}[a.dry]] + " " + s.Resource
		if s.Action == "change" {
			line += ": " + strings.Join(s.Members, ", ")
		}
		lines = append(lines, []string{line})
		for _, e := range s.Effects {
			if !isAdvice[e] {
				lines = append(lines, []string{"  " + e})
			}
		}
		if s.Advice != "" {
			lines = append(lines, []string{"  " + s.Advice})
		}
		for _, text := range s.Truth {
			lines = append(lines, []string{"  " + text})
		}
	}
	failure := c.err
	c.err = nil // Print the steps before the error.
	c.print(append([]step{}, a.steps...), lines...)
	c.err = cmp.Or(failure, c.err)
	a.noteLeftOut()
}

func (a *applying) apply() {
	task := maps.Clone(a.Task)
	task["organizerId"] = a.organizer()
	a.collectFaults()
	has := a.find(client.Query(client.Path("tasks"), "filter[organizerId]", fmt.Sprint(task["organizerId"])), task)
	a.rules = memberAs[record.SubmissionRules](merged(task, has), "submissions")
	id := a.resource("/task", "task", client.Path("tasks"), task, has)
	a.collectFaults()
	for i := range a.Datasets {
		a.dataset(i, id)
		a.collectFaults()
	}
	if a.err == nil && a.faulty != nil {
		a.err = a.faulty
	}
}

// collectFaults lets a dry run continue after a resource with faults, so that all faults of the file are told at once. Any other error
// ends the dry run.
func (a *applying) collectFaults() {
	p, refused := errors.AsType[*client.Problem](a.err)
	if !a.dry || !refused || p.Type != problem.Invalid.Type() || len(p.Errors) == 0 {
		return
	}
	if a.faulty == nil {
		a.faulty = p
	} else {
		a.faulty.Errors = append(a.faulty.Errors, p.Errors...)
	}
	a.err = nil
}

// organizer returns the id of the organizer that the file names by its name or id. If it names none, the caller must have only one.
func (a *applying) organizer() string {
	who := a.me()
	for _, m := range who.Memberships {
		if m.OrganizerID == a.Organizer || strings.EqualFold(m.OrganizerName, a.Organizer) || a.Organizer == "" && len(who.Memberships) == 1 {
			return m.OrganizerID
		}
	}
	if a.Organizer == "" {
		a.fail(&refusal{fileRefused, a.place("/organizer") + ": is missing: name one of yours, or a new one", ""})
	}
	if !a.yes("new-organizer") {
		a.refuseNamesake()
	}
	return a.resource("/organizer", "organizer", client.Path("organizers"), map[string]any{"name": a.Organizer}, nil)
}

// refuseNamesake refuses to make an organizer with the name of one that the caller does not belong to. Its task would get the names of that
// organizer's task.
func (a *applying) refuseNamesake() {
	named := all[object](a.call, client.Query(client.Path("organizers"), "filter[name]", a.Organizer))
	mine := a.me().Memberships
	for _, o := range named {
		isMine := slices.ContainsFunc(mine, func(m membership) bool { return m.OrganizerID == o.id() })
		if strings.EqualFold(o.text("name"), a.Organizer) && !isMine {
			a.fail(&refusal{notFound, fmt.Sprintf("%s: there is an organizer %s, and you are no member of it. Ask its members for an invitation, "+
				"or choose another name.", a.place("/organizer"), o.text("name")),
				"the same command with --new-organizer, for a second one of this name"})
		}
	}
}

// find returns the resource of a list with the wanted name, or nil.
func (a *applying) find(path string, wanted object) object {
	if isNew(wanted) {
		return nil
	}
	list := all[object](a.call, path)
	if i := slices.IndexFunc(list, func(o object) bool { return o["name"] == wanted["name"] }); i >= 0 {
		return a.get(strings.Split(path, "?")[0] + "/" + list[i].id()) // The list has fewer members than the resource.
	}
	return nil
}

// notMade is the id of resources that a dry run would create.
const notMade = "00000000000000000000000000"

// isNew reports whether a resource belongs to an organizer or a task that a dry run would create.
func isNew(of object) bool { return of["organizerId"] == notMade || of["taskId"] == notMade }

// resource creates or changes a resource, and returns its id, or notMade if a dry run would create it. The pointer is its place in the
// file.
func (a *applying) resource(pointer, kind, path string, wanted, has object) string {
	if a.err != nil {
		return ""
	}
	s := step{Resource: fmt.Sprintf("%s %s", kind, wanted["name"]), Action: "create"}
	method, body := http.MethodPost, map[string]any(wanted)
	if has != nil {
		s.Action = "change"
		s.ID = has.id()
		path = path + "/" + has.id()
		method, body = http.MethodPatch, difference(wanted, has)
	}
	s.Members = slices.Sorted(maps.Keys(body))
	if len(body) > 0 {
		a.preview(&s, ask[preview](a.call, method, path+"?preview=true", a.withContents(body)), has)
	}
	switch {
	case len(s.Members) == 0:
		s.Action = "none"
	case a.err == nil && !a.dry:
		has = ask[object](a.call, method, path, body)
		s.ID = has.id()
	}
	if p, ok := errors.AsType[*client.Problem](a.err); ok {
		if isNew(wanted) && len(p.Errors) == 1 && slices.Contains([]string{"/organizerId", "/taskId"}, p.Errors[0].Pointer) {
			a.err = nil // The only fault is that its organizer or task does not exist yet.
			a.uncounted = true
		}
		for i := range p.Errors {
			p.Errors[i].Pointer = pointer + p.Errors[i].Pointer
		}
	}
	if !a.dry {
		s.Advice = a.words.text(memberAs[problem.Text](has, "advice"))
		s.Truth = truthLines(memberAs[record.TruthReport](has, "truthReport"))
	}
	if a.err == nil {
		a.steps = append(a.steps, s)
	}
	return cmp.Or(s.ID, notMade)
}

// previewedBytes is the size of the files up to which a preview has their contents. Larger files are only announced, so the server cannot
// tell what runs they would fail.
const previewedBytes = 2 << 20

// withContents returns the body of a preview with the contents of its files, unless they are large.
func (a *applying) withContents(body map[string]any) map[string]any {
	size := int64(0)
	with := maps.Clone(body)
	for _, member := range []string{"truths", "inputs"} {
		files, _ := body[member].([]sent)
		for _, f := range files {
			size += f.Size
		}
		if size > previewedBytes {
			return body
		}
		if len(files) == 0 {
			continue
		}
		given := slices.Clone(files)
		for i, f := range given {
			content, err := os.ReadFile(f.path)
			if a.fail(err) {
				return body
			}
			given[i].Content = base64.StdEncoding.EncodeToString(content)
		}
		with[member] = given
	}
	return with
}

// merged returns a resource after a merge patch, without removing members. Objects have the members of both.
func merged(patch, has object) object {
	all := maps.Clone(has)
	if all == nil {
		all = object{}
	}
	for name, value := range patch {
		of, isObject := value.(map[string]any)
		had, _ := all[name].(map[string]any)
		if isObject {
			value = map[string]any(merged(of, had))
		}
		all[name] = value
	}
	return all
}

// effect is an effect in a preview.
type effect struct {
	Kind, Subject string
	Before, After string
	problem.Text
}

// preview is the answer to a preview of a change.
type preview struct {
	Resource object // after the change
	Effects  []effect
}

// preview adds the effects of a preview to a step, and removes the members that the change leaves equal, such as one that is set to its
// default. Advice and what the caller's quotas count are told only before the change. has is nil for a new resource.
func (a *applying) preview(s *step, p preview, has object) {
	if a.err != nil {
		return
	}
	if has != nil {
		s.Members = slices.DeleteFunc(s.Members, func(name string) bool { return same(has[name], p.Resource[name]) })
	}
	a.outdated = a.outdated || a.changesRules()
	for _, e := range p.Effects {
		isNew := e.Before == "" && e.After != ""
		if e.Kind == "audit" || e.Subject == record.MadeAudits || isNew {
			continue // Every change has an audit entry, and every new resource an audience.
		}
		isUsage := e.Kind == "quota" && !strings.HasPrefix(e.Subject, "/v1/") // of the caller, not a limit of a task or a dataset
		if a.dry || !isUsage && e.Kind != "advice" {
			s.Effects = append(s.Effects, a.words.text(e.Text))
		}
	}
}

// changesRules reports whether an earlier step changes rules of the task that previews of its datasets reckon with.
func (a *applying) changesRules() bool {
	return slices.ContainsFunc(a.steps, func(s step) bool {
		return s.Action == "change" && strings.HasPrefix(s.Resource, "task ") && slices.ContainsFunc(s.Members, func(name string) bool {
			return slices.Contains([]string{"visibility", "submissions", "terms"}, name)
		})
	})
}

func (a *applying) dataset(i int, taskID string) {
	pointer := fmt.Sprintf("/datasets/%d", i)
	wanted := maps.Clone(a.Datasets[i])
	wanted["taskId"] = taskID
	has := a.find(client.Query(client.Path("datasets"), "filter[taskId]", taskID), wanted)
	named := map[string][]sent{}
	for _, member := range []string{"truths", "inputs"} {
		if wanted[member] == nil {
			continue
		}
		named[member] = a.files(wanted[member])
		wanted[member] = named[member]
		if has != nil && slices.EqualFunc(named[member], filesOf(has, member), sent.same) {
			delete(wanted, member)
		}
	}
	nameMeasures(wanted, has)
	if a.dry && (wanted["truths"] != nil || wanted["inputs"] != nil) && named["truths"] != nil {
		a.readTruth(i, wanted, has, named["truths"], named["inputs"])
	}
	path := client.Path("datasets") + "/" + a.resource(pointer, "dataset", client.Path("datasets"), wanted, has)
	if a.err == nil {
		a.describe(i)
	}
	for _, member := range []string{"truths", "inputs"} {
		for _, f := range named[member] {
			switch {
			case a.err == nil && !a.dry:
				a.send(path, member, f)
			case a.err == nil && wanted[member] != nil: // The file is not stored yet.
				s := &a.steps[len(a.steps)-1]
				s.Effects = append(s.Effects, "sends "+f.path)
			}
		}
	}
}

// files returns the files that a member of a dataset names by their paths.
func (a *applying) files(member any) (files []sent) {
	paths, _ := member.([]any)
	for _, p := range paths {
		path := fmt.Sprint(p)
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(a.path), path)
		}
		files = append(files, sent{path: path, File: a.digest(path, a.info().Limits.File)})
	}
	return files
}
