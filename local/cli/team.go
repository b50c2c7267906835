package main

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"assay/local/cli/client"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
)

// draft returns the registration of a team according to the flags. terms are the terms of the task in the form of the API.
func (c *call) draft(name string, terms any) map[string]any {
	d := map[string]any{"team": cmp.Or(c.text("team"), name)}
	if d["team"] == "" {
		c.fail(&refusal{failed, "Your team has no name yet.", "the same command with --team NAME"})
	}
	c.fill(d, map[string]string{"affiliation": "affiliation", "contact": "contact", "anonymous": "anonymous"})
	if of, _ := terms.(map[string]any); of["text"] != nil && of["text"] != "" {
		d["acceptedTerms"] = of["version"]
		if !c.yes("accept-terms") {
			c.fail(&refusal{notFound, fmt.Sprintf("Taking part needs your agreement to these terms:\n\n%s\n", of["text"]),
				"the same command with --accept-terms"})
		}
	}
	return d
}

func join(c *call) {
	if i := strings.Index(c.arg(0), record.InvitationPrefix); i >= 0 {
		c.acceptInvitation(c.arg(0)[i:])
		return
	}
	task := c.task(c.arg(0))
	r := c.register(task)
	c.say(r, "%s takes part in %s: %s.", r.text("team"), task.text("name"), r.text("state"))
}

// register returns the caller's registration for a task. It makes a registration if there is none, and accepts changed terms.
func (c *call) register(task object) object {
	who := c.me()
	path := client.Path("tasks", task.id(), "registrations")
	if id := who.registration(task); id != "" {
		r := c.get(path + "/" + id)
		if terms, _ := task["terms"].(map[string]any); c.err != nil || terms == nil || r["acceptedTerms"] == terms["version"] {
			return r
		}
		return c.patch(path+"/"+id, map[string]any{"acceptedTerms": c.draft(r.text("team"), task["terms"])["acceptedTerms"]})
	}
	made := c.post(path, c.draft(who.Name, task["terms"]))
	if client.IsKind(c.err, problem.Conflict) {
		c.err = &refusal{failed, c.err.Error(), "the same command with --team NAME"}
	}
	return made
}

// acceptInvitation joins the organizer or the team of an invitation, or registers a new team for its task.
func (c *call) acceptInvitation(secret string) {
	c.connect(link.FindString(c.arg(0)))
	path := client.Path("user", "memberships")
	body := map[string]any{"secret": secret}
	to := ask[struct{ Resource object }](c, http.MethodPost, path+"?preview=true", body).Resource
	if to["taskId"] != nil && to["team"] == nil { // An existing team has accepted the terms.
		body["registration"] = c.draft(c.me().Name, to["terms"])
	}
	c.say(c.post(path, body), "Joined %s.", to.first("taskName", "organizerName"))
}

func invite(c *call, task object) {
	path := client.Path("tasks", task.id(), "invitations")
	if !c.yes("to-task") {
		id := c.me().registration(task)
		if id == "" {
			c.fail(&refusal{notFound, "You have no team in " + task.text("name") + " yet.", fmt.Sprintf("assay join %q", c.arg(0))})
		}
		path = client.Path("tasks", task.id(), "registrations", id, "invitations")
	}
	body := map[string]any{"uses": c.number("uses")}
	c.fill(body, map[string]string{"email": "email"})
	made := c.post(path, body)
	c.say(made, "%s", made.text("link"))
}
