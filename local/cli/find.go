package main

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
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
	task := c.byName(client.Query(client.Path("tasks"), "filter[name]", part), "task", text)
	c.words.taskID, c.words.task = task.id(), text
	return task
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
	list := all[object](c, path)
	var found [3][]object // resources by quality of the match: equal id, equal name, name with the text
	for _, o := range list {
		name, wanted := strings.ToLower(o.text("name")), strings.ToLower(text)
		for i, is := range []bool{o.id() == text, name == wanted, strings.Contains(name, wanted)} {
			if is {
				found[i] = append(found[i], o)
			}
		}
	}
	for _, matches := range found {
		switch {
		case len(matches) == 1:
			return matches[0]
		case len(matches) > 1:
			if own := c.registered(kind, matches); own != nil {
				return own
			}
			c.failAmbiguous(kind, text, matches)
			return nil
		}
	}
	c.failUnknown(kind, text, list)
	return nil
}

// registered returns the only one of several tasks that a team of the caller takes part in, or asks to. It returns nil if the caller
// organizes another of them, which can be meant as well.
func (c *call) registered(kind string, tasks []object) (own object) {
	if kind != "task" || !c.signedIn() {
		return nil
	}
	for _, task := range tasks {
		switch {
		case c.me().competes(task) && own == nil:
			own = task
		case c.me().competes(task) || c.organizes(task):
			return nil
		}
	}
	return own
}

// chooseBy returns the way to name one of several resources that the text may mean.
func chooseBy(kind, text string) string {
	switch {
	case kind == "task":
		return "the same command with its ID"
	case text == "":
		return "the same command with --dataset NAME or ID"
	}
	return "the same command with the whole NAME or the ID in place of " + offline.Quoted(text)
}

// failAmbiguous lists the resources that the user may mean. Tasks have their organizers, because names of tasks can be equal.
func (c *call) failAmbiguous(kind, text string, matches []object) {
	var lines []string
	for _, o := range matches[:min(len(matches), mostListed)] {
		one := line(o.id()) + "  " + o.text("name")
		if kind == "task" {
			by, err := client.Get[object](c.ctx, c.Client, client.Path("organizers", o.text("organizerId")))
			if err == nil { // Not everyone sees every organizer.
				one += ", by " + by.text("name")
			}
		}
		lines = append(lines, one)
	}
	if len(matches) > mostListed {
		lines = append(lines, "and "+plural.Count(len(matches)-mostListed, "other"))
	}
	c.fail(&refusal{failed, fmt.Sprintf("Which %s is meant? There are:\n%s", kind, strings.Join(lines, "\n")), chooseBy(kind, text)})
}

// mostListed bounds the resources of a message.
const mostListed = 20

// failUnknown says that no resource has a name, and which known name is most like it.
func (c *call) failUnknown(kind, text string, known []object) {
	if kind == "task" { // The server listed only tasks whose name contains the text.
		known = ask[struct{ Data []object }](c, http.MethodGet, client.Query(client.Path("tasks"), "limit", "200"), nil).Data
	}
	named := names(known)
	if text == "" {
		c.fail(&refusal{notFound, "The task has no dataset, or none that you may see.", ""})
		return
	}
	said := fmt.Sprintf("There is no %s %q here, or you may not see it.%s", kind, text, closest(text, named))
	if kind == "dataset" && len(known) > 0 {
		said += fmt.Sprintf(" There are:\n%s", strings.Join(named[:min(len(named), mostListed)], "\n"))
	}
	heal := "assay tasks"
	if kind == "dataset" {
		heal = "assay datasets " + offline.Quoted(c.args[0]) // Commands with a dataset take its task first.
	}
	c.fail(&refusal{notFound, said, heal})
}

// modes has words for the modes of registration.
var modes = map[any]string{"open": "open", "approval": "by approval", "closed": "by invitation"}

// registers says how users register for a task, from when or until when, and whether its submissions have closed before.
func registers(task object, past bool) string {
	rules := memberAs[record.RegistrationRules](task, "registration")
	mode, now := fmt.Sprint(modes[string(rules.Mode)]), time.Now()
	switch {
	case rules.Mode == record.Closed:
		return mode
	case rules.OpensAt != nil && now.Before(rules.OpensAt.Time):
		return mode + " from " + localTime(rules.OpensAt)
	case rules.ClosesAt != nil && !now.Before(rules.ClosesAt.Time):
		return "closed since " + localTime(rules.ClosesAt)
	}
	if past {
		return mode + until(rules.ClosesAt) + ", too late to submit"
	}
	return mode + until(rules.ClosesAt)
}

func listTasks(c *call) {
	list := all[object](c, client.Query(client.Path("tasks"), "filter[name]", c.arg(0)))
	if !c.json {
		windows := c.windowsOf(list)
		for _, task := range list {
			of := stageOf(task, windows[task.id()])
			task["takes"] = registers(task, of.Past())
			task["submits"] = submits(c.ownStage(task, of))
		}
	}
	empty := "You see no task here."
	if c.arg(0) != "" {
		empty = fmt.Sprintf("You see no task whose name contains %q.", c.arg(0))
	}
	c.table(list, empty, "ID id|NAME name|REGISTRATION takes|SUBMISSIONS submits")
}

// stageOf returns the stage of a task with the windows of its datasets.
func stageOf(task object, windows []record.DatasetSubmissions) record.Stage {
	rules := record.TaskDraft{Submissions: memberAs[record.SubmissionRules](task, "submissions")}
	return (&record.Task{TaskDraft: rules}).Stage(windows, time.Now())
}

// ownStage returns the stage of a task for the caller's team, which can have later closes than others. Without an accepted team it returns
// the stage for all.
func (c *call) ownStage(task object, forAll record.Stage) record.Stage {
	if forAll.ClosesAt == nil || !c.signedIn() {
		return forAll
	}
	for _, t := range c.ownTeams(task) {
		sets := memberAs[record.Quota](t, "quota").Datasets
		if len(sets) > 0 && t.text("state") == string(record.Accepted) {
			return stageOf(task, lists.Map(sets, func(d record.DatasetQuota) record.DatasetSubmissions {
				return record.DatasetSubmissions{OpensAt: d.OpensAt, ClosesAt: d.ClosesAt}
			}))
		}
	}
	return forAll
}

// submits says from when or until when a task takes submissions, or since when it takes none. It returns nil for a task without limits.
func submits(s record.Stage) any {
	switch {
	case s.Past():
		return "closed since " + localTime(s.ClosesAt)
	case s.OpensAt != nil:
		return "from " + localTime(s.OpensAt) + until(s.ClosesAt)
	case s.ClosesAt != nil:
		return strings.TrimSpace(until(s.ClosesAt))
	}
	return nil
}

// windowsOf returns the windows of the datasets of the tasks, by the ids of the tasks.
func (c *call) windowsOf(tasks []object) map[string][]record.DatasetSubmissions {
	windows := map[string][]record.DatasetSubmissions{}
	for some := range slices.Chunk(lists.Map(tasks, object.id), mostFiltered) {
		for _, d := range all[object](c, client.Query(client.Path("datasets"), "filter[taskId]", strings.Join(some, ","))) {
			id := memberAs[string](d, "taskId")
			windows[id] = append(windows[id], memberAs[record.DatasetSubmissions](d, "submissions"))
		}
	}
	return windows
}

// me is the signed-in user.
type me struct {
	ID, Name      string
	Roles         []string
	Registrations []struct {
		TaskID, RegistrationID string
		State                  record.RegistrationState
	}
	Ended        []endedPart `json:"endedRegistrations"`
	DeletedTasks []deletedTask
	Memberships  []membership
}

// deletedTask is a deleted task that the user was registered for. RestorableUntil is nil if nobody can restore it any more.
type deletedTask struct {
	TaskID, TaskName, Team string
	RestorableUntil        *record.Instant
}

// endedPart is the former part of the user in a team, which another person ended.
type endedPart struct {
	TaskID, TaskName, Team string
	ByOrganizers, Removed  bool
	EndedAt                record.Instant
}

// clause tells what became of the user's part in the team.
func (e endedPart) clause() string {
	end := record.GrantEnd{At: e.EndedAt, ByOrganizers: e.ByOrganizers, Removed: e.Removed}
	return end.Clause(e.Team)
}

// lost returns a sentence, with a space after it, about the user's former part in a team of the task. It is empty if nobody else ended such
// a part.
func (m me) lost(task object) string {
	for _, e := range m.Ended {
		if e.TaskID == task.id() {
			return e.clause() + ". "
		}
	}
	return ""
}

// membership is an organizer of a user.
type membership struct{ OrganizerID, OrganizerName string }

// me returns the signed-in user. It asks the server once.
func (c *call) me() me {
	if c.user == nil {
		who := ask[me](c, http.MethodGet, client.Path("user"), nil)
		if c.err != nil {
			return who
		}
		c.user = &who
	}
	return *c.user
}

// signedIn reports whether requests have a token.
func (c *call) signedIn() bool {
	if c.err != nil {
		return false
	}
	token, err := c.Token(c.ctx, false)
	return token != "" && err == nil
}

// organizes reports whether the caller has the rights of a task's organizers: as a member of its organizer, or as an administrator.
func (c *call) organizes(task object) bool {
	is := func(m membership) bool { return m.OrganizerID == task.text("organizerId") }
	return c.signedIn() && (slices.ContainsFunc(c.me().Memberships, is) || slices.Contains(c.me().Roles, "admin"))
}

// requireOrganizer refuses to go on if a signed-in caller does not organize the task. does says what only organizers do.
func (c *call) requireOrganizer(task object, does, heal string) {
	if c.err == nil && c.signedIn() && !c.organizes(task) {
		c.fail(&refusal{notFound, fmt.Sprintf("Only the organizers of %s %s.", task.text("name"), does), heal})
	}
}

// name returns the name of the user or, without one, the id.
func (m me) name() string { return cmp.Or(m.Name, m.ID) }

// registration returns the id of the caller's registration for the task, or an empty string.
func (m me) registration(task object) string {
	for _, r := range m.Registrations {
		if r.TaskID == task.id() {
			return r.RegistrationID
		}
	}
	return ""
}

// competes reports whether the caller has a team in the task that the organizers have not rejected.
func (m me) competes(task object) bool {
	for _, r := range m.Registrations {
		if r.TaskID == task.id() {
			return r.State != record.Rejected
		}
	}
	return false
}
