//go:build browser

package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestConsole_SaysThatNobodyRestoresATask deletes a task and then its organizer. The question before must name the task, and the members of
// its teams must read afterwards that nobody restores it.
func TestConsole_SaysThatNobodyRestoresATask(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Bygone lakes")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"visibility": "public"}, nil)
	s.post(t, s.token(t, "ada"), task+"/registrations", map[string]any{"team": "Otters"})
	var made struct{ OrganizerID string }
	s.get(t, owner, task, &made)
	s.call(t, owner, http.MethodDelete, task, nil, nil)
	p := s.signedIn(t, "ada", "/?show=mine")
	p.Sees("The organizers have deleted Bygone lakes, in which Otters was registered. They can restore it until")
	organizer := s.signedIn(t, "owner", "/organizers/"+made.OrganizerID)
	organizer.Press("Delete the organizer")
	organizer.Sees("The deleted task “Bygone lakes” goes with it: it can then no longer be restored from the trash.")
	organizer.Press("Yes, go on")
	organizer.Await(`location.hash === "#/desk"`)
	p.Visit("/runs")
	p.Sees("The organizers have deleted Bygone lakes. The runs of Otters in it are not listed. Nobody can restore it any more.")
	p.Visit("/?show=mine")
	p.Sees("in which Otters was registered. Nobody can restore it any more.")
	p.Visit(strings.TrimPrefix(task, "/v1"))
	p.Sees("The organizers have deleted this task, with what teams submitted to it. Nobody can restore it any more.")
}
