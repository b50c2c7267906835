package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"assay/local/cli/client"
)

var (
	idPattern = regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`)
	link      = regexp.MustCompile(`(?s)^https?://.*`)
)

// task returns the task that the text names by its id, its name, or the URL of one of its pages. A URL also names the server.
func (c *call) task(text string) object {
	c.connect(link.FindString(text))
	if id := idPattern.FindString(text); id != "" {
		return c.get(client.Path("tasks", id))
	}
	part, _, _ := strings.Cut(text, ",") // A comma separates values in a filter.
	return c.byName(client.Query(client.Path("tasks"), "filter[name]", part), "task", text)
}

// dataset returns the dataset of the task that the text names by its id or its name. If the text is empty, the task must have only one.
func (c *call) dataset(task object, text string) object {
	return c.byName(datasetsOf(task), "dataset", text)
}

func datasetsOf(task object) string {
	return client.Query(client.Path("datasets"), "filter[taskId]", task.id())
}

// byName returns the resource of a list whose id or name equals the text, ignoring case. Otherwise it returns the only resource whose name
// contains the text.
func (c *call) byName(path, kind, text string) object {
	var names []string
	var found [3][]object // resources by quality of the match: equal id, equal name, name with the text
	for _, o := range all[object](c, path) {
		name, wanted := strings.ToLower(o.text("name")), strings.ToLower(text)
		for i, is := range []bool{o.id() == text, name == wanted, strings.Contains(name, wanted)} {
			if is {
				found[i] = append(found[i], o)
			}
		}
		names = append(names, line(o.id())+"  "+o.text("name"))
	}
	best := slices.IndexFunc(found[:], func(list []object) bool { return len(list) > 0 })
	switch {
	case best >= 0 && len(found[best]) == 1:
		return found[best][0]
	case len(names) == 0:
		c.fail(&refusal{notFound, fmt.Sprintf("There is no %s %q here, or you may not see it.", kind, text), "assay tasks"})
	default:
		heal := map[string]string{"dataset": "the same command with --dataset NAME or ID", "task": "the same command with its ID"}[kind]
		c.fail(&refusal{notFound, fmt.Sprintf("Which %s is meant? There are:\n%s", kind, strings.Join(names, "\n")), heal})
	}
	return nil
}

// me is the signed-in user.
type me struct {
	ID, Name      string
	Registrations []struct{ TaskID, RegistrationID string }
	Memberships   []struct{ OrganizerID, OrganizerName string }
}

func (c *call) me() me { return ask[me](c, http.MethodGet, client.Path("user"), nil) }

// registration returns the id of the caller's registration for the task, or an empty string.
func (m me) registration(task object) string {
	for _, r := range m.Registrations {
		if r.TaskID == task.id() {
			return r.RegistrationID
		}
	}
	return ""
}

func listDatasets(c *call, task object) {
	c.list(datasetsOf(task), "The task has no dataset yet.",
		"ID id|NAME name|SPLIT split|FORMAT runFormat.kind|MEASURE evaluator.primaryMeasure|INPUTS inputs")
}
