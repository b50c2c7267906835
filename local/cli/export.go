package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/storage/durable"
)

// exported is a list that export saves as name.jsonl and name.csv. noun is the word for one of its resources.
type exported struct {
	name, noun string
	resources  []object
}

// export saves the lists of a task and the files of its runs. It reads all lists before it creates the folder, and writes them after the
// files, so that a folder with lists is complete.
func export(c *call, task object) {
	parts := c.exportedLists(task)
	var files []exportedFile
	lacking := 0
	is := contents{TaskID: task.id()}
	for _, p := range parts {
		for _, extension := range listExtensions {
			is.Files = append(is.Files, p.name+extension)
		}
		if p.name == runsList && c.yes("files") {
			files, lacking = c.exportedFiles(p.resources)
		}
	}
	for _, f := range files {
		is.Files = append(is.Files, f.into)
	}
	if c.err != nil {
		return
	}
	into := cmp.Or(c.text("output"), fileName(task.text("name"), task.id()))
	root := c.open(into)
	c.prepare(root, is)
	saved := 0
	for _, f := range files {
		if c.fetch(root, filepath.FromSlash(folderOf(f.run)), client.Path("runs", f.run.id()), "files", f.index, f.sent) == "" {
			lacking++
		} else {
			saved++
		}
	}
	holds := []string{}
	for _, p := range parts {
		if c.err == nil {
			c.fail(saveList(p.resources, filepath.Join(into, p.name)))
		}
		holds = append(holds, plural.Count(len(p.resources), p.noun))
	}
	if c.err == nil {
		c.tellOthers(root, is)
	}
	if c.err != nil {
		return
	}
	if saved > 0 {
		holds = append(holds, plural.Count(saved, "file")+" of runs")
	}
	if lacking > 0 {
		c.note("%s of runs left out: not there yet, or not for you to see.", plural.Count(lacking, "file"))
	}
	if !c.signedIn() {
		c.note("Only what everyone sees is saved, because you are not signed in: no registrations, exceptions and reviews. To sign in: %s",
			c.login())
	}
	c.note("Not saved: ground truths, inputs, logs, audit entries, invitations and webhooks. To save inputs and public ground truths: "+
		"assay download %s", offline.Quoted(c.arg(0)))
	c.say(map[string]string{"folder": into}, "Saved in %s: %s.", into, strings.Join(holds, ", "))
}

const runsList = "runs"

// listNames are the names of the lists that export saves, each with the listExtensions.
var (
	listNames = []string{"task", "datasets", "announcements", "submissions", runsList, "evaluations", "registrations", "reviews"}

	listExtensions = []string{".jsonl", ".csv"}
)

// exportedLists reads the lists of a task that the caller may read.
func (c *call) exportedLists(task object) []exported {
	of := client.Path("tasks", task.id())
	parts := []exported{{"task", "task", []object{task}}}
	add := func(name, noun, path string) []object {
		list := all[object](c, path)
		if c.err != nil && c.refuse(c.err, "").code == notFound {
			c.note("%s: not for you to see.", name)
			c.err = nil
			return nil
		}
		parts = append(parts, exported{name, noun, list})
		return list
	}
	add("datasets", "dataset", datasetsOf(task))
	add("announcements", "announcement", of+"/announcements")
	add("submissions", "submission", of+"/submissions")
	runs := add(runsList, "run", client.Query(client.Path("runs"), "filter[taskId]", task.id()))
	add("evaluations", "evaluation", of+"/evaluations")
	if !c.signedIn() {
		return parts
	}
	teams := add("registrations", "registration", registrationsOf(task))
	for i, r := range teams { // The list has no exceptions.
		if whole := c.ifShown(registrationsOf(task) + "/" + r.id()); whole != nil {
			teams[i] = whole
		}
	}
	return append(parts, exported{"reviews", "review", c.reviewsOf(task, runs)})
}

// reviewsOf returns the reviews that the caller may read. Organizers read all of them, and others those of their teams.
func (c *call) reviewsOf(task object, runs []object) (reviews []object) {
	organizes := c.organizes(task)
	for _, r := range runs {
		if !organizes && r.text("registrationId") == "" {
			continue
		}
		if review := c.ifShown(client.Path("runs", r.id(), "review")); review != nil {
			reviews = append(reviews, review)
		}
	}
	return reviews
}

// ifShown returns a resource, or nil if it does not exist or the caller may not read it.
func (c *call) ifShown(path string) object {
	if c.err != nil {
		return nil
	}
	o, err := client.Get[object](c.ctx, c.Client, path)
	if client.IsKind(err, problem.NotFound, problem.Forbidden) || c.fail(err) {
		return nil
	}
	return o
}

// saveList writes resources to path.jsonl and path.csv.
func saveList(list []object, path string) error {
	columns, flat := map[string]string{}, make([]map[string]string, len(list))
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	for i, o := range list {
		if err := e.Encode(o); err != nil {
			return err
		}
		flat[i] = map[string]string{}
		flatten(flat[i], "", o)
		maps.Copy(columns, flat[i])
	}
	names := slices.Sorted(maps.Keys(columns))
	lines := [][]string{names}
	for _, values := range flat {
		lines = append(lines, lists.Map(names, func(name string) string { return values[name] }))
	}
	return errors.Join(durable.WriteBytes(filepath.Dir(path), path+".jsonl", text.Bytes()),
		durable.Write(filepath.Dir(path), path+".csv", func(f *os.File) error { return csv.NewWriter(f).WriteAll(lines) }))
}

// flatten adds the members of an object as columns. Members of inner objects have names with dots, and lists become JSON. A text that
// spreadsheets would take for a formula gets a leading apostrophe.
func flatten(into map[string]string, prefix string, of map[string]any) {
	for name, value := range of {
		switch v := value.(type) {
		case map[string]any:
			flatten(into, prefix+name+".", v)
		case string:
			if v != "" && strings.ContainsRune("=+-@\t\r", rune(v[0])) {
				v = "'" + v
			}
			into[prefix+name] = v
		case nil:
		default:
			text, _ := json.Marshal(v) // The value came from JSON.
			into[prefix+name] = string(text)
		}
	}
}
