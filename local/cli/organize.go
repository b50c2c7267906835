package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"

	"github.com/spf13/pflag"
)

func listRegistrations(c *call, task object) {
	state := c.choice("state", []string{"pending", "accepted", "rejected"})
	const others = " Only the organizers see the other teams."
	empty := c.me().lost(task) + "You have no team in " + task.text("name") + "." + others
	switch {
	case c.organizes(task) && state == "":
		empty = "No team is registered."
	case c.organizes(task):
		empty = "No registration is " + state + "."
	case c.me().registration(task) != "":
		empty = "Your team is not " + state + "." + others
	}
	list := all[object](c, client.Query(registrationsOf(task), "filter[state]", state))
	c.nameTeams(list)
	if !c.json {
		for _, r := range list {
			r["memberNames"] = strings.Join(c.memberNames(r), ", ")
		}
	}
	c.table(list, empty, "ID id|STATE state|TEAM teamName|AFFILIATION affiliation|MEMBERS memberNames")
}

// memberNames returns the names of the members of a team, as far as the caller sees them, or else their ids.
func (c *call) memberNames(r object) []string {
	named := map[string]string{}
	for _, who := range append(memberAs[[]object](r, "people"), memberAs[object](r, "user"), object{"id": c.me().ID, "name": c.me().Name}) {
		named[who.id()] = memberAs[string](who, "name")
	}
	return lists.Map(memberAs[[]string](r, "members"), func(id string) string { return cmp.Or(named[id], id) })
}

// teams returns the ids of the registrations that the texts name by their ids, aliases, or the names of their teams.
func (c *call) teams(task object, texts []string) []string {
	isID := func(text string) bool { return idPattern.FindString(text) == text }
	if !slices.ContainsFunc(texts, func(text string) bool { return !isID(text) }) {
		return texts
	}
	list := all[object](c, registrationsOf(task))
	return lists.Map(texts, func(text string) string {
		same := func(r object) bool {
			return r.id() == text || strings.EqualFold(r.text("team"), text) || strings.EqualFold(r.text("alias"), text)
		}
		found := slices.DeleteFunc(slices.Clone(list), func(r object) bool { return !same(r) })
		switch {
		case c.err != nil:
		case len(found) == 0:
			known := lists.Map(list, func(r object) string { return r.text("team") })
			c.fail(&refusal{notFound, fmt.Sprintf("There is no team %q in %s.%s", text, task.text("name"), closest(text, known)),
				"assay registrations " + offline.Quoted(c.arg(0))})
		case len(found) > 1:
			lines := lists.Map(found, func(r object) string {
				return r.id() + "  " + teamName(r) + ": " + strings.Join(c.memberNames(r), ", ")
			})
			c.fail(&refusal{failed, fmt.Sprintf("Which team %q is meant? There are:\n%s", text, strings.Join(lines, "\n")),
				"the same command with its ID"})
		default:
			return found[0].id()
		}
		return ""
	})
}

// decide returns a command that sets the state of registrations for a task.
func decide(state string) func(*call) {
	return inTask(func(c *call, task object) {
		c.requireOrganizer(task, "accept and reject teams", "")
		ids := c.teams(task, c.args[1:])
		var kept []keptResults
		if state == string(record.Rejected) && !c.json {
			for _, id := range ids {
				kept = append(kept, c.keptOf(task, id)...)
			}
		}
		c.change(registrationsOf(task), ids, map[string]any{"state": state}, "")
		for _, k := range kept {
			if c.err == nil {
				c.note("%s To hide them: assay review %s --dataset %s --unpublish --filter %s=%s", k.text, offline.Quoted(c.arg(0)), k.dataset,
					byTeam, k.team)
			}
		}
	})
}

// keptResults says that others see results of a rejected team on a dataset, now or after the last close, because published runs stay
// published.
type keptResults struct{ text, dataset, team string }

// keptOf asks a preview which results others would see of the team if it is rejected.
func (c *call) keptOf(task object, id string) (kept []keptResults) {
	path := registrationsOf(task) + "/" + url.PathEscape(id) + "?preview=true"
	asked := ask[struct{ Effects []effect }](c, http.MethodPatch, path, map[string]any{"state": record.Rejected})
	for _, e := range asked.Effects {
		if dataset, ok := strings.CutPrefix(e.Subject, "/v1/datasets/"); ok {
			kept = append(kept, keptResults{c.words.text(e.Text), dataset, id})
		}
	}
	return kept
}

func review(c *call, task object) {
	body := c.reviews(task)
	var reviewed []object
	leftOut := 0
	for _, selected := range c.selected(task) {
		if len(selected.runs) > 0 {
			body["runIds"] = selected.runs
			c.words.args = append([]string{c.arg(0)}, selected.runs...) // Faults name runs by their places in the request.
		}
		all, without := c.reviewOn(selected.dataset, body)
		c.tellHidden(selected.dataset, all)
		reviewed = append(reviewed, all...)
		leftOut += without
	}
	refused := 0
	for _, r := range reviewed {
		if r["problem"] != nil {
			refused++
		}
		if !c.json {
			r["shownTo"] = shownTo(r)
			r["done"] = doneTo(r)
		}
	}
	if leftOut > 0 {
		c.note("Left out: %s of rejected teams. To show their results too, name the runs, or the team by --filter %s=ID.",
			plural.Count(leftOut, "run"), byTeam)
	}
	c.table(reviewed, "No run was selected.", "RUN runId|REVIEW done|RESULTS SHOWN TO shownTo|PROBLEM problem.detail")
	if refused > 0 {
		c.fail(fmt.Errorf("%s could not be reviewed", plural.Count(refused, "run")))
	}
}

// reviewOn changes the reviews of runs on a dataset, and returns the result for each run. leftOut is how many runs of rejected teams a
// filter left out.
func (c *call) reviewOn(dataset string, body map[string]any) (reviewed []object, leftOut int) {
	path := client.Path("datasets", dataset, "reviews")
	for more := true; more; more = c.err == nil && body["cursor"] != "" {
		page := ask[struct {
			Data    []object
			Cursor  string
			LeftOut int
		}](c, http.MethodPatch, path, body)
		for _, r := range page.Data {
			if r["problem"] != nil && !c.json {
				r["problem"] = map[string]any{"detail": c.words.text(memberAs[problem.Text](r, "problem"))}
			}
		}
		reviewed, body["cursor"] = append(reviewed, page.Data...), page.Cursor
		leftOut += page.LeftOut
	}
	return reviewed, leftOut
}

// selection holds the runs on a dataset that a command names by their ids. runs is empty if a filter selects them.
type selection struct {
	dataset string // its id
	runs    []string
}

// mostReviewed is how many runs one request reviews by their ids.
const mostReviewed = 100

// selected returns the runs that are reviewed, by their datasets, each run once. Runs that are named by their ids name their datasets,
// unless --dataset does. A selection has at most mostReviewed runs.
func (c *call) selected(task object) (all []selection) {
	named := ""
	if len(c.args) < 2 || c.text("dataset") != "" {
		named = c.dataset(task, c.text("dataset")).id()
	}
	ids := c.args[1:]
	if len(ids) == 0 {
		return []selection{{dataset: named}}
	}
	for i, id := range ids {
		dataset := named
		if slices.Contains(ids[:i], id) {
			continue
		}
		if dataset == "" {
			dataset = c.datasetOfRun(task, id)
		}
		if c.err != nil {
			return nil
		}
		into := slices.IndexFunc(all, func(s selection) bool { return s.dataset == dataset && len(s.runs) < mostReviewed })
		if into < 0 {
			into, all = len(all), append(all, selection{dataset: dataset})
		}
		all[into].runs = append(all[into].runs, id)
	}
	return all
}

// datasetOfRun returns the id of the dataset of a run in the task.
func (c *call) datasetOfRun(task object, id string) string {
	r := c.get(client.Path("runs", id))
	c.err = c.ofHiddenRun(id, c.err)
	switch {
	case c.err != nil:
		c.err = fmt.Errorf("%s: %w", line(id), c.err)
	case r.text("taskId") != task.id():
		c.fail(&refusal{failed, fmt.Sprintf("The run %s belongs to another task than %s.", id, task.text("name")), ""})
	}
	return r.text("datasetId")
}

// doneTo says what a request did to a review.
func doneTo(reviewed object) string {
	switch {
	case reviewed["problem"] != nil:
		return "refused"
	case memberAs[bool](reviewed, "changed"):
		return "changed"
	}
	return "unchanged"
}

// given returns the flags that the user wrote, each with a blank before it.
func (c *call) given() string {
	var b strings.Builder
	c.flags.Visit(func(f *pflag.Flag) {
		b.WriteString(" --" + f.Name)
		if f.Value.Type() != "bool" {
			b.WriteString("=" + offline.Quoted(f.Value.String()))
		}
	})
	return b.String()
}

// selectedBy are the names of --filter. byTeam is the one for runs of teams.
var selectedBy = []string{"label", byTeam, "states", "userIds"}

const byTeam = "registrationIds"

// shownTo says who sees the results of a reviewed run. All organizers of the task always do.
func shownTo(reviewed object) string {
	switch audience := reviewed.text("review.audience"); {
	case audience == "registrants":
		return "the organizers and all who take part"
	case audience == "team" && memberAs[bool](reviewed, "noTeam"):
		return "the organizers and its submitter"
	case audience == "team":
		return "the organizers and its team"
	case audience == "organizers":
		return "only the organizers"
	default:
		return audience
	}
}

// tellHidden says why reviews of runs on a dataset that are published show nothing to others.
func (c *call) tellHidden(dataset string, reviewed []object) {
	blinded, unblinded := 0, 0
	for _, r := range reviewed {
		switch {
		case r.text("review.published") != "yes" || r.text("review.audience") != "organizers":
		case r.text("review.blinded") == "yes":
			blinded++
		default:
			unblinded++
		}
	}
	if blinded > 0 {
		and, later := "", ""
		if memberAs[bool](c.get(client.Path("datasets", dataset)), "withheld") {
			and = " and withheld"
			later = ", and not before the dataset has closed for every team"
		}
		c.note("Published, but blinded%s: %s. Nobody but the organizers sees the results until --unblind%s.", and, plural.Count(blinded, "run"),
			later)
	}
	if unblinded > 0 {
		c.note("Published, but withheld: %s. Nobody but the organizers sees the results until the dataset has closed for every team.",
			plural.Count(unblinded, "run"))
	}
}

// unselected returns the refusal to review runs that the command does not name. If the task has several datasets and the command names
// none, the refusal asks for one too.
func (c *call) unselected(task object) *refusal {
	r := &refusal{failed, "Which runs are meant? Name them by their ids or by --filter.", "assay review " + offline.Quoted(c.arg(0))}
	if c.text("dataset") == "" {
		if list := all[object](c, datasetsOf(task)); len(list) > 1 {
			r.text += " Name their dataset by --dataset too: " + strings.Join(names(list[:min(len(list), mostListed)]), ", ") + "."
			r.heal += " --dataset " + offline.Quoted(list[0].text("name"))
		}
	}
	r.heal += " --filter states=completed" + c.given()
	return r
}

// reviews returns the body that changes reviews according to the flags.
func (c *call) reviews(task object) map[string]any {
	change, body := map[string]any{}, map[string]any{}
	for flag, member := range map[string]string{"publish": "published", "blind": "blinded"} {
		if c.yes(flag) || c.yes("un"+flag) {
			change[member] = c.yes(flag)
		}
	}
	if c.flags.Changed("comment") { // An empty text removes the comment.
		change["comment"] = c.text("comment")
	}
	body["review"] = change
	filter, err := c.flags.GetStringSlice("filter")
	c.fail(err)
	if len(change) == 0 {
		c.fail(&refusal{failed, "Nothing was said to change.", "one of --publish, --unpublish, --blind, --unblind, --comment"})
	}
	switch ids := c.args[1:]; {
	case (len(ids) == 0) == (len(filter) == 0):
		c.fail(c.unselected(task))
	case len(ids) > 0: // review adds them for each dataset.
	default:
		selection := map[string]any{}
		for _, condition := range filter {
			name, value, named := strings.Cut(condition, "=")
			if !named {
				c.fail(&refusal{failed, fmt.Sprintf("--filter: %q names nothing to select by. Semicolons separate values: "+
					"--filter \"states=completed;failed\".", condition), "--filter with one of " + strings.Join(selectedBy, ", ")})
			}
			if !slices.Contains(selectedBy, name) {
				c.fail(&refusal{failed, fmt.Sprintf("--filter does not know %q.%s", name, closest(name, selectedBy)),
					"--filter with one of " + strings.Join(selectedBy, ", ")})
			}
			selection[name] = value
			if name != "label" {
				selection[name] = strings.Split(value, ";")
			}
		}
		body["filter"] = selection
	}
	return body
}

func announce(c *call, task object) {
	text, err := c.input(c.arg(1))
	if !c.fail(err) && strings.TrimSpace(string(text)) == "" {
		c.fail(&refusal{fileRefused, "The announcement has no text.", "the same command with a file, or with the text on standard input"})
	}
	made := c.post(client.Path("tasks", task.id(), "announcements"), map[string]any{"title": c.text("title"), "body": string(text)})
	where := "Announced on the page of %s. This server sends no e-mails."
	if c.info().Mail {
		where = "Announced on the page of %s. Members of teams that take part get it by e-mail, if they want such e-mails."
	}
	c.say(made, where, task.text("name"))
}
