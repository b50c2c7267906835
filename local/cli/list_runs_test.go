package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/local/cli/client"
)

// TestRuns_ListsTheRunsOfTheTeam lists the runs of a team to its members, also those of a member who left, and all runs to organizers.
func TestRuns_ListsTheRunsOfTheTeam(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", "1\tlakes\n")
	olga.want(done, "apply", olga.write("task.yaml", taskFile))
	olga.says(done, []string{"Lake search has no run outside the trash.\n"}, "runs", "--task", "Lake search")
	olga.says(done, []string{"None of your teams has a run outside the trash. ", "assay runs --task TASK\n"}, "runs")
	tom := s.person("tom")
	ben := s.person("ben")
	zoe := s.person("zoe")
	zoe.says(done, []string{"You have no team in Lake search. Runs of a team that you left stay with that team."}, "runs", "--task",
		"Lake search")
	run := tom.write("run.txt", goodRun)
	tom.want(done, "join", "Lake search", "--team", "Otters")
	tom.says(done, []string{"The team Otters has no run for Lake search outside the trash."}, "runs", "--task", "Lake search")
	ben.want(done, "join", strings.TrimSpace(tom.want(done, "invite", "Lake search")))
	ben.want(done, "submit", "Lake search", "Rivers="+run, "--public")
	if got := tom.says(done, []string{"Rivers"}, "runs"); strings.Contains(got, "SUBMITTED BY") {
		t.Errorf("all runs are of one user:\n%s", got)
	}
	tom.want(done, "submit", "Lake search", "Lakes="+run)
	runs := tom.ids("runs")
	if ofBen := ben.ids("runs", "--task", "Lake search"); len(runs) != 2 || runs[0] < runs[1] || !slices.Equal(ofBen, runs) {
		t.Errorf("tom sees %v, ben sees %v", runs, ofBen)
	}
	tom.says(done, []string{"SUBMITTED BY\n", " tom\n", " ben\n"}, "runs")

	ben.leaves(s.url)
	ben.says(done, []string{"None of your teams has a run outside the trash. Runs of a team that you left stay with that team."}, "runs")
	ben.says(done, []string{"An earlier team of a member had used more of the quota, and your team counts as having used as much.\n"},
		"submit", "Lake search", "Rivers="+ben.write("better.txt", betterRun), "--team", "Seals")
	if runs := ben.ids("runs"); len(runs) != 1 {
		t.Errorf("ben sees %v", runs)
	}
	tom.says(done, []string{" tom\n", " a former member\n"}, "runs")
	if got := tom.ids("runs"); !slices.Equal(got, runs) {
		t.Errorf("tom sees %v, want %v", got, runs)
	}
	olga.says(done, []string{"TITLE  RUN TAG  SUBMITTED", "  -      tom      ", "TEAM\n", " Otters\n", " Seals\n"},
		"runs", "--task", "Lake search")
	if got := olga.ids("runs", "--task", "Lake search"); len(got) != 3 {
		t.Errorf("olga sees %v", got)
	}
}

// TestRuns_OfARejectedTeamOfAPrivateTask lists runs in a private task of a team that was rejected, and in a public task.
func TestRuns_OfARejectedTeamOfAPrivateTask(t *testing.T) {
	s := serve(t, "embedded")
	olga, tom := s.person("olga"), s.person("tom")
	olga.write("labels.csv", "id,label\n1,a\n")
	olga.want(done, "apply", olga.write("birds.yaml", labelsFile))
	olga.want(done, "apply", olga.write("seals.yaml", strings.Replace(labelsFile, "Birds\n", "Seals\n  visibility: private\n", 1)))
	tom.want(done, "join", strings.TrimSpace(olga.want(done, "invite", "Seals", "--to-task")), "--team", "Otters")
	run := tom.write("run.csv", "id,label\n1,a\n")
	for _, task := range []string{"Birds", "Seals"} {
		tom.want(done, "submit", task, run, "--wait")
	}
	runs := tom.ids("runs") // The newest is first.
	olga.want(done, "registrations", "reject", "Seals", "Otters")
	tom.says(done, []string{runs[0] + "  completed  -  ", runs[1] + "  completed  Songs  ",
		"The organizers of a private task rejected the team Otters, so it does not take part.",
		"Its runs are listed without the names of their datasets, which you do not see."}, "runs")
	tom.says(done, []string{"Accuracy", "1.0000", "not shown: you do not see the leaderboard of this dataset"}, "runs", runs[0])
}

// TestRuns_NamesRunsThatOrganizersDeleted deletes one run of a team as an organizer, and another one as a member.
func TestRuns_NamesRunsThatOrganizersDeleted(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", "1\tlakes\n")
	olga.want(done, "apply", olga.write("task.yaml", taskFile))
	tom := s.person("tom")
	tom.want(done, "join", "Lake search", "--team", "Otters")
	tom.want(done, "submit", "Lake search", "Rivers="+tom.write("run.txt", goodRun), "--title", "First")
	tom.want(done, "submit", "Lake search", "Lakes="+tom.write("better.txt", betterRun), "--title", "Second")
	runs := tom.ids("runs")
	tom.remove(s.url, client.Path("runs", runs[1]))
	if got := tom.says(done, []string{"Second"}, "runs"); strings.Contains(got, "deleted") {
		t.Errorf("the team deleted its run itself:\n%s", got)
	}
	olga.remove(s.url, client.Path("runs", runs[0]))
	tom.says(done, []string{"The team Otters has no run", "The organizers deleted the run Second of the team Otters on ",
		"Only they can restore it: ask them."}, "runs", "--task", "Lake search")
}

// leaves ends the person's membership in the only team, for which there is no command.
func (p *person) leaves(server string) {
	p.t.Helper()
	who, err := client.Get[me](p.t.Context(), p.client(server), client.Path("user"))
	if err != nil {
		p.t.Fatal(err)
	}
	r := who.Registrations[0]
	p.remove(server, client.Path("tasks", r.TaskID, "registrations", r.RegistrationID, "members", who.ID))
}

// remove deletes the resource at the path, for which there is no command.
func (p *person) remove(server, path string) {
	p.t.Helper()
	if _, err := p.client(server).Do(p.t.Context(), client.Request{Method: http.MethodDelete, Path: path}); err != nil {
		p.t.Fatal(err)
	}
}

// client returns a client of the API with a token of the person.
func (p *person) client(server string) *client.Client {
	p.t.Helper()
	base, err := url.Parse(server)
	if err != nil {
		p.t.Fatal(err)
	}
	token := strings.TrimSpace(p.want(done, "tokens", "create", "client", "--scopes", "submit,organize"))
	c := client.New(base, "", func(string, time.Duration) {})
	c.Token = func(context.Context, bool) (string, error) { return token, nil }
	return c
}

// TestRuns_SaysThatARegistrationWasDeleted deletes the registration of a team. Its owner finds out what became of it.
func TestRuns_SaysThatARegistrationWasDeleted(t *testing.T) {
	s := serve(t, "embedded")
	olga, tom := s.person("olga"), s.person("tom")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", "1\tlakes\n")
	olga.want(done, "apply", olga.write("task.yaml", taskFile))
	tom.want(done, "join", "Lake search", "--team", "Otters")
	who, err := client.Get[me](t.Context(), tom.client(s.url), client.Path("user"))
	if err != nil {
		t.Fatal(err)
	}
	r := who.Registrations[0]
	olga.remove(s.url, client.Path("tasks", r.TaskID, "registrations", r.RegistrationID))
	const lost = "The organizers deleted the registration of your team Otters"
	tom.says(done, []string{lost + ". You have no team in Lake search."}, "runs", "--task", "Lake search")
	tom.says(done, []string{lost + ". You have no team in Lake search."}, "registrations", "Lake search")
	tom.says(notFound, []string{lost + ". You have no team in Lake search now."}, "invite", "Lake search")
	tom.says(done, []string{lost + ", in Lake search."}, "runs")
	tom.want(done, "join", "Lake search", "--team", "Otters")
	if got := tom.says(done, nil, "runs"); strings.Contains(got, "deleted") {
		t.Errorf("tom takes part again, and reads\n%s", got)
	}
}
