package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/domain/record"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

// listRuns lists the runs of a task for its organizers, and the runs of the caller's teams for all others. task is nil for all tasks.
func (c *call) listRuns(task object) {
	columns := "ID id|STATE state|DATASET dataset|TITLE label,title|RUN TAG runTag|SUBMITTED createdAt|FINAL final"
	if task != nil && c.organizes(task) {
		list := all[object](c, client.Query(client.Path("runs"), "filter[taskId]", task.id()))
		c.nameDatasets(list)
		c.nameTeams(list)
		c.table(list, fmt.Sprintf("%s has no run outside the trash.", task.text("name")), columns+"|TEAM teamName")
		c.noteFinals(list)
		return
	}
	teams := c.ownTeams(task)
	list := c.runsOfTeams(teams, task)
	unseen := c.nameDatasets(list)
	if c.nameSubmitters(teams, list) {
		columns += "|SUBMITTED BY submitter"
	}
	c.table(list, c.noRuns(teams, task), columns)
	c.noteUnseen(teams, unseen)
	c.noteFinals(list)
	c.noteDeleted(teams, task)
	if task == nil && !c.json && c.err == nil {
		c.noteEnded()
	}
}

// noteUnseen says why runs of the teams have no name of a dataset. Members of a team that is not accepted see their runs in a private task,
// but no datasets.
func (c *call) noteUnseen(teams, runs []object) {
	for _, t := range teams {
		isOfTeam := func(r object) bool { return r.text("registrationId") == t.id() }
		if slices.ContainsFunc(runs, isOfTeam) && t.text("state") != string(record.Accepted) {
			c.note("%s Its runs are listed without the names of their datasets, which you do not see.",
				notAccepted(object{"name": "a private task"}, t))
		}
	}
}

// noteFinals says which runs count of teams that have marked more runs as final than the dataset takes. Organizers can lower that number.
func (c *call) noteFinals(runs []object) {
	type choice struct{ team, dataset string }
	marked := map[choice]int{}
	for _, r := range runs {
		if !c.json && memberAs[bool](r, "final") {
			marked[choice{r.text("registrationId"), r.text("datasetId")}]++
		}
	}
	for _, r := range runs {
		of := choice{r.text("registrationId"), r.text("datasetId")}
		most := memberAs[int](r, "finalRuns")
		if most > 0 && marked[of] > most {
			c.note("The team %s has marked %s as final on %s, which takes %d: of those with a result, only the newest %s.", teamName(r),
				plural.Count(marked[of], "run"), r.text("dataset"), most, plural.Verb(most, "counts", fmt.Sprintf("%d count", most)))
			delete(marked, of)
		}
	}
}

// noteEnded names the teams in which others ended the caller's part.
func (c *call) noteEnded() {
	for _, e := range c.me().Ended {
		c.note("%s, in %s.", e.clause(), cmp.Or(e.TaskName, e.TaskID))
	}
}

// noteDeleted names the tasks, and the submissions and runs of the teams, that organizers deleted.
func (c *call) noteDeleted(teams []object, task object) {
	if c.json || c.err != nil {
		return
	}
	for _, d := range c.me().DeletedTasks {
		if task == nil {
			restoring := ", unless they restore it"
			if d.RestorableUntil == nil {
				restoring = ", and nobody can restore it any more"
			}
			c.note("The organizers deleted %s. The runs of the team %s in it are not listed%s.",
				cmp.Or(d.TaskName, "the task "+d.TaskID), d.Team, restoring)
		}
	}
	if len(teams) == 0 {
		return
	}
	path := client.Query(client.Path("deletions"), "filter[kind]", "submission,run", "filter[taskId]", task.id())
	for _, d := range all[object](c, path) {
		i := slices.IndexFunc(teams, func(t object) bool { return t.id() == d["registrationId"] })
		if i < 0 || !memberAs[bool](d, "byOrganizers") {
			continue
		}
		c.note("The organizers deleted the %s %s of the team %s on %s. Only they can restore it: ask them.", d.text("kind"),
			d.first("name", "resourceId"), teams[i].text("team"), d.text("createdAt"))
	}
}

// ownTeams returns the registrations of the caller, for one task or for all.
func (c *call) ownTeams(task object) (teams []object) {
	for _, r := range c.me().Registrations {
		if c.err != nil || task != nil && task.id() != r.TaskID {
			continue
		}
		team, err := client.Get[object](c.ctx, c.Client, client.Path("tasks", r.TaskID, "registrations", r.RegistrationID))
		if client.IsKind(err, problem.NotFound) { // The task is in the trash.
			continue
		}
		c.fail(err)
		teams = append(teams, team)
	}
	return teams
}

// runsOfTeams returns the runs of the teams and the caller's baselines without a team, newest first. Runs that members submitted for other
// teams are not among them.
func (c *call) runsOfTeams(teams []object, task object) (runs []object) {
	me := c.me().ID
	users := []string{me}
	for _, t := range teams {
		users = append(users, authors(t)...)
	}
	slices.Sort(users)
	isOurs := func(r object) bool {
		if r.text("team") == record.BaselineTeam {
			return r["userId"] == me
		}
		return slices.ContainsFunc(teams, func(t object) bool { return t.id() == r.text("registrationId") })
	}
	for some := range slices.Chunk(slices.Compact(users), mostFiltered) {
		path := client.Query(client.Path("runs"), "filter[userId]", strings.Join(some, ","), "filter[taskId]", task.id())
		runs = append(runs, slices.DeleteFunc(all[object](c, path), func(r object) bool { return !isOurs(r) })...)
	}
	slices.SortFunc(runs, func(a, b object) int { return cmp.Compare(b.id(), a.id()) })
	return runs
}

// mostFiltered is the greatest number of values in a filter of a list.
const mostFiltered = 50

// authors returns the ids of all users who can have submitted runs for the team: its members and its former members.
func authors(team object) []string {
	return append(memberAs[[]string](team, "members"), memberAs[[]string](team, "formerIds")...)
}

// nameSubmitters gives runs the names of the users who submitted them, for a table, and reports whether they are several.
func (c *call) nameSubmitters(teams, runs []object) (several bool) {
	if c.json {
		return false
	}
	named := map[any]string{c.me().ID: c.me().name()}
	for _, t := range teams {
		names := c.memberNames(t)
		for i, id := range memberAs[[]string](t, "members") {
			named[id] = names[i]
		}
	}
	for _, r := range runs {
		r["submitter"] = cmp.Or(named[r["userId"]], "a former member")
		several = several || r["userId"] != runs[0]["userId"]
	}
	return several
}

// noRuns says that no run is listed, and which runs never are.
func (c *call) noRuns(teams []object, task object) string {
	none := "None of your teams has a run outside the trash."
	switch {
	case task != nil && len(teams) == 0:
		none = c.me().lost(task) + fmt.Sprintf("You have no team in %s.", task.text("name"))
	case task != nil:
		none = fmt.Sprintf("The team %s has no run for %s outside the trash.", teams[0].text("team"), task.text("name"))
	}
	none += " Runs of a team that you left stay with that team."
	if task == nil && len(c.me().Memberships) > 0 {
		return none + " Organizers list the runs of a task with: assay runs --task TASK"
	}
	if why := c.noSubmission(teams, task); why != "" {
		return none + " " + why
	}
	return none + " Submit one with: assay submit TASK FILE"
}

// noSubmission says why the caller, a member of the teams, cannot submit a run now, to the task or, if task is nil, for any of the teams.
// It is empty if a dataset takes a run, and for callers who name no task and have no team yet.
func (c *call) noSubmission(teams []object, task object) string {
	takes := func(q record.Quota) bool {
		return slices.ContainsFunc(q.Datasets, func(d record.DatasetQuota) bool { return d.Open && (d.Left == nil || *d.Left > 0) })
	}
	switch {
	case slices.ContainsFunc(teams, func(t object) bool { return takes(memberAs[record.Quota](t, "quota")) }):
		return ""
	case len(teams) > 0 && task == nil:
		return "No dataset takes a run of them now."
	case len(teams) > 0 && teams[0].text("state") != string(record.Accepted):
		return notAccepted(task, teams[0])
	case task == nil:
		return ""
	case len(teams) == 0:
		if why, _ := c.howToJoin(task); why != "" {
			return why
		}
		if takes(quotaOfNewTeam(task, all[object](c, datasetsOf(task)))) {
			return ""
		}
	}
	return "No dataset takes a run now. To see why: assay datasets " + offline.Quoted(c.text("task"))
}

// teamName returns the name of the team that takes part or that a record belongs to, with the alias of an anonymous team, which can have
// the name of another team.
func teamName(of object) string {
	alias := memberAs[string](of, "alias")
	if anonymous, given := of["anonymous"].(bool); given && !anonymous { // every registration has an alias
		alias = ""
	}
	return record.TeamName(of.text("team"), alias)
}

// nameTeams gives registrations and runs the names of their teams, for a table.
func (c *call) nameTeams(list []object) {
	if c.json {
		return
	}
	for _, o := range list {
		o["teamName"] = teamName(o)
	}
}

// nameDatasets gives runs the names of their datasets and how many final runs these take, for a table. It returns the runs on datasets that
// the caller does not see.
func (c *call) nameDatasets(runs []object) (unseen []object) {
	if c.json {
		return nil
	}
	found := map[string]object{}
	for _, r := range runs {
		id := r.text("datasetId")
		if _, known := found[id]; !known && c.err == nil {
			d, err := client.Get[object](c.ctx, c.Client, client.Path("datasets", id))
			if !client.IsKind(err, problem.Forbidden, problem.NotFound) {
				c.fail(err)
			}
			found[id] = d
		}
		name := memberAs[string](found[id], "name")
		if name == "" {
			unseen = append(unseen, r)
		}
		r["dataset"] = name
		r["finalRuns"] = found[id]["finalRuns"]
	}
	return unseen
}
