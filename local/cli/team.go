package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// draft returns the registration of a team according to the flags. terms are the terms of the task in the form of the API.
func (c *call) draft(name string, terms any) map[string]any {
	d := map[string]any{"team": cmp.Or(c.text("team"), name)}
	if d["team"] == "" {
		c.fail(&refusal{failed, "Your team has no name yet.", "the same command with --team NAME"})
	}
	c.fill(d, teamMembers)
	if version := c.acceptedTerms(terms); version != nil {
		d["acceptedTerms"] = version
	}
	return d
}

// acceptedTerms returns the version of terms that the flags accept, or nil if there are no terms. It refuses to go on without a flag.
func (c *call) acceptedTerms(terms any) any {
	of, _ := terms.(map[string]any)
	if of["text"] == nil || of["text"] == "" {
		return nil
	}
	if !c.yes("accept-terms") {
		c.fail(&refusal{failed, fmt.Sprintf("Taking part needs your agreement to these terms:\n\n%s\n", of["text"]),
			"the same command with --accept-terms"})
	}
	return of["version"]
}

// requireTerms refuses --accept-terms for a task that has no terms.
func (c *call) requireTerms(task object) {
	if c.err == nil && c.yes("accept-terms") && memberAs[record.Terms](task, "terms").Text == "" {
		c.fail(&refusal{failed, fmt.Sprintf("--accept-terms does nothing here: %s has no terms.", task.text("name")),
			"the same command without --accept-terms"})
	}
}

func join(c *call) {
	if i := strings.Index(c.arg(0), record.InvitationPrefix); i >= 0 {
		c.acceptInvitation(c.arg(0)[i:])
		return
	}
	task := c.task(c.arg(0))
	c.requireTerms(task)
	r, changed := c.registration(task), map[string]any(nil)
	switch {
	case r == nil:
		r = c.register(task)
		c.noteClosed(task)
	case r.text("state") == string(record.Rejected): // Nobody in the team can change it or accept terms.
		c.fail(&refusal{notFound, notAccepted(task, r), ""})
	default:
		changed = c.teamChanges(r)
		c.requireOwner(task, r, changed)
		r = c.changeTeam(task, r, changed)
	}
	text := fmt.Sprintf("%s takes part in %s: %s.", r.text("team"), task.text("name"), r.text("state"))
	if r.text("state") == string(record.Pending) {
		text = notAccepted(task, r)
	}
	if len(changed) > 0 {
		text += " Changed: " + strings.Join(slices.Sorted(maps.Keys(changed)), ", ") + "."
	}
	c.say(r, "%s", text)
}

// noteClosed warns a team that has registered although the task has closed.
func (c *call) noteClosed(task object) {
	if c.err != nil || c.json {
		return
	}
	if stageOf(task, c.windowsOf([]object{task})[task.id()]).Past() {
		c.note("%s has closed for submissions: your team can submit only if the organizers set a later close.", task.text("name"))
	}
}

func registrationsOf(task object) string { return client.Path("tasks", task.id(), "registrations") }

// registration returns the caller's registration for a task, or nil.
func (c *call) registration(task object) object {
	id := c.me().registration(task)
	if id == "" || c.err != nil {
		return nil
	}
	return c.get(registrationsOf(task) + "/" + id)
}

// register registers the caller for a task.
func (c *call) register(task object) object {
	if c.needsInvitation(task) {
		c.fail(&refusal{notFound, fmt.Sprintf("Teams take part in %s by invitation. Ask its organizers for one.", task.text("name")),
			"assay join INVITATION with the link that they send you"})
	}
	terms := task["terms"]
	if !c.canRegister(task) {
		terms = nil // The server refuses the registration, so nobody has to agree to terms first.
	}
	made := c.post(registrationsOf(task), c.draft(c.me().Name, terms))
	c.user = nil // The user has one registration more.
	if client.IsKind(c.err, problem.Conflict) {
		c.err = &refusal{failed, c.err.Error(), "the same command with --team NAME"}
	}
	return made
}

// canRegister reports whether a task takes registrations of the caller now.
func (c *call) canRegister(task object) bool { return c.registrationWindow(task) == nil }

// registrationWindow returns the problem that registration for a task is not open to the caller now, or nil.
func (c *call) registrationWindow(task object) error {
	if c.organizes(task) {
		return nil
	}
	rules := memberAs[record.RegistrationRules](task, "registration")
	return record.CheckWindow("Registration", rules.OpensAt, rules.ClosesAt, time.Now())
}

// howToJoin returns the command that gives the caller a team in the task. If no command does at present, command is empty, and why is the
// reason as a sentence. The caller must not have a team in the task.
func (c *call) howToJoin(task object) (why, command string) {
	if c.needsInvitation(task) {
		return "Teams take part by invitation: ask its organizers for one.", ""
	}
	if p, outside := errors.AsType[*problem.Error](c.registrationWindow(task)); outside {
		return c.words.text(p.Text), ""
	}
	return "", "assay join " + offline.Quoted(c.arg(0))
}

// needsInvitation reports whether the caller can register for a task only by an invitation.
func (c *call) needsInvitation(task object) bool {
	return memberAs[record.RegistrationRules](task, "registration").Mode == record.Closed && !c.organizes(task)
}

// requireOwner refuses flags that would change the registration r if the caller does not own the team.
func (c *call) requireOwner(task, r object, changes map[string]any) {
	if c.err == nil && len(changes) > 0 && r["userId"] != c.me().ID {
		c.fail(&refusal{notFound, fmt.Sprintf("You are in the team %s of %s, and only its owner changes it: leave %s out.", r.text("team"),
			task.text("name"), flagsOf(changes)), ""})
	}
}

// teamChanges returns the members of a registration that the flags change.
func (c *call) teamChanges(r object) map[string]any {
	wanted := map[string]any{}
	for flag, member := range teamMembers {
		switch {
		case !c.flags.Changed(flag):
		case flag == "anonymous":
			wanted[member] = c.yes(flag)
		default:
			wanted[member] = c.text(flag)
		}
	}
	return difference(wanted, merged(r, object{"affiliation": "", "contact": "", "anonymous": false}))
}

// lacksTerms reports whether a registration has not accepted the current terms of its task.
func lacksTerms(task, r object) bool {
	terms := memberAs[record.Terms](task, "terms")
	return terms.Text != "" && terms.Version != memberAs[int64](r, "acceptedTerms")
}

// howToAccept names the commands that print the terms of the task of the first argument, and that accept them for the caller's team.
func (c *call) howToAccept() string {
	join := "assay join " + offline.Quoted(c.arg(0))
	return "To read them: " + join + ". To accept them: " + join + " --accept-terms"
}

// changeTeam changes a registration, and accepts changed terms of the task.
func (c *call) changeTeam(task, r object, changes map[string]any) object {
	patch := map[string]any{}
	maps.Copy(patch, changes)
	if lacksTerms(task, r) {
		patch["acceptedTerms"] = c.acceptedTerms(task["terms"])
	}
	if len(patch) == 0 || c.err != nil {
		return r
	}
	return c.patch(registrationsOf(task)+"/"+r.id(), patch)
}

// flagsOf returns flags that the command does not follow, such as --affiliation and --team.
func flagsOf(members map[string]any) string {
	return strings.Join(lists.Map(slices.Sorted(maps.Keys(members)), func(name string) string { return "--" + name }), " and ")
}

// acceptInvitation joins the organizer or the team of an invitation, or registers a new team for its task.
func (c *call) acceptInvitation(secret string) {
	c.connect(link.FindString(c.arg(0)))
	path := client.Path("user", "memberships")
	body := map[string]any{"secret": secret}
	to := ask[struct{ Resource object }](c, http.MethodPost, path+"?preview=true", body).Resource
	if to["closedAt"] != nil && !c.json && c.err == nil {
		c.note("%s has closed for submissions: a team that registers now can submit only if the organizers set a later close.",
			to.text("taskName"))
	}
	if to["taskId"] != nil && to["team"] == nil { // The invitation creates a team, which accepts the terms.
		task := object{"id": to["taskId"], "name": to["taskName"], "terms": to["terms"]}
		c.refuseSecondTeam(task)
		c.requireTerms(task)
		body["registration"] = c.draft(c.me().Name, to["terms"])
	} else {
		c.refuseOfNewTeam()
	}
	made := c.post(path, body)
	c.say(made, "%s", c.joined(made))
}

// refuseSecondTeam refuses an invitation that makes a team if the caller has one in the task already, whatever its state is.
func (c *call) refuseSecondTeam(task object) {
	r := c.registration(task)
	if r == nil || c.err != nil {
		return
	}
	text := fmt.Sprintf("You have the team %s in %s already, and this invitation makes another one.", r.text("team"), task.text("name"))
	if r.text("state") != string(record.Accepted) {
		text += " " + notAccepted(task, r)
	}
	c.fail(&refusal{failed, text, ""})
}

// refuseOfNewTeam refuses flags that concern a new team, for an invitation that makes none.
func (c *call) refuseOfNewTeam() {
	if ignored := c.teamChanges(nil); len(ignored) > 0 && c.err == nil {
		c.fail(&refusal{failed, "This invitation makes no new team, so it does not go with " + flagsOf(ignored) + ".",
			"the same command without these flags. The owner of a team changes it by: assay join TASK " + flagsOf(ignored)})
	}
	if c.yes("accept-terms") {
		c.fail(&refusal{failed, "This invitation makes no new team, so it does not go with --accept-terms.",
			"the same command without --accept-terms. A member of a team accepts terms by: assay join TASK --accept-terms"})
	}
}

// joined says what the caller joined by an invitation: an organizer, or a team and whether the organizers have accepted it.
func (c *call) joined(made object) string {
	if made["registrationId"] == nil {
		return fmt.Sprintf("Joined %s.", made.first("taskName", "organizerName"))
	}
	if made.text("state") != string(record.Accepted) {
		return fmt.Sprintf("Joined the team %s. %s", made.text("team"), notAccepted(object{"name": made["taskName"]}, made))
	}
	return fmt.Sprintf("Joined %s in the team %s.", made.text("taskName"), made.text("team"))
}

// teamless returns the refusal to invite into a team that the caller does not have. Organizers probably mean the task.
func (c *call) teamless(task object) *refusal {
	r := &refusal{notFound, "You have no team in " + task.text("name") + " yet.", ""}
	if lost := c.me().lost(task); lost != "" {
		r.text = lost + "You have no team in " + task.text("name") + " now."
	}
	switch {
	case c.organizes(task):
		r.heal = "assay invite " + offline.Quoted(c.arg(0)) + " --to-task, to invite into the task, or --team TEAM, to invite into a team"
	default:
		why, join := c.howToJoin(task)
		r.text = strings.TrimSpace(r.text + " " + why)
		r.heal = join
	}
	return r
}

// invitedTeam returns the id of the registration to invite into: the one that --team names, or the caller's own.
func (c *call) invitedTeam(task object) string {
	team := c.text("team")
	if team == "" {
		r := c.registration(task)
		if r == nil {
			c.fail(c.teamless(task))
		}
		if r.text("state") == string(record.Rejected) {
			c.fail(&refusal{notFound, notAccepted(task, r), ""})
		}
		return r.id()
	}
	c.requireOrganizer(task, "name the team to invite into", "the same command without --team, for your own team")
	if c.err != nil {
		return ""
	}
	return c.teams(task, []string{team})[0]
}

func invite(c *call, task object) {
	path := client.Path("tasks", task.id(), "invitations")
	if !c.yes("to-task") {
		path = client.Path("tasks", task.id(), "registrations", c.invitedTeam(task), "invitations")
	}
	body := map[string]any{"uses": c.number("uses")}
	if to := c.text("email"); to != "" && !c.info().Mail {
		if c.err == nil {
			c.note("This server sends no e-mails: send the link to %s yourself.", to)
		}
	} else {
		c.fill(body, map[string]string{"email": "email"})
	}
	made := c.post(path, body)
	if !c.json && c.err == nil {
		c.noteInvited(task, made)
	}
	c.say(made, "%s", made.text("link"))
}

// noteInvited says what users who join by a new invitation cannot do.
func (c *call) noteInvited(task, made object) {
	switch closed := memberAs[*record.Instant](made, "closedAt"); {
	case closed == nil:
	case c.yes("to-task"):
		c.note("%s closed at %s. A team that registers by the link cannot submit unless the organizers move a close or give it a later one.",
			task.text("name"), localTime(closed))
	default:
		c.note("%s closed for the team at %s. The link admits nobody unless the organizers move a close or give the team a later one.",
			task.text("name"), localTime(closed))
	}
	switch {
	case made.text("state") != string(record.Pending):
	case c.organizes(task):
		c.note("The team does not take part yet. To accept it: assay registrations accept %s %s", offline.Quoted(c.arg(0)),
			offline.Quoted(cmp.Or(c.text("team"), "TEAM")))
	default:
		c.note("The team does not take part yet: the organizers of %s have to accept it first.", task.text("name"))
	}
}
