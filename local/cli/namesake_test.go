package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestApply_MakesNoSecondOrganizerUnasked: somebody who does not belong to the organizer of a file makes no second one of its name, unless
// told to. Then a name means the only task in which the user takes part, unless the user organizes another one of the name.
func TestApply_MakesNoSecondOrganizerUnasked(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	ben := s.person("ben")
	tom := s.person("tom")
	const file = "organizer: Lake Lab\ntask: {name: Lakes}\n"
	olga.want(done, "apply", olga.write("task.yaml", file))
	bens := ben.write("task.yaml", file)
	ben.says(notFound, []string{"task.yaml:1: organizer: there is an organizer Lake Lab, and you are no member", "--new-organizer"},
		"apply", bens)
	toms := olga.ids("tasks")[0]
	tom.want(done, "join", "Lakes")
	ben.want(done, "apply", bens, "--new-organizer")
	tom.want(done, "datasets", "Lakes")
	ben.says(failed, []string{"Which task is meant?", ", by Lake Lab", "with its ID"}, "datasets", "Lakes")
	olga.want(done, "registrations", "reject", toms, "tom")
	tom.says(failed, []string{"Which task is meant?"}, "datasets", "Lakes") // A rejected team does not take part.
	ben.want(done, "join", toms)
	ben.says(failed, []string{"Which task is meant?"}, "datasets", "Lakes") // Ben organizes the other one.

	if got := ben.want(fileRefused, "apply", "nofile.yaml"); strings.Contains(got, "schema") {
		t.Errorf("a missing file is no fault of its form:\n%s", got)
	}
}

// TestHints_NameWhatHelps: hints name the command as the user wrote it, and a sign-in only to users who are not signed in.
func TestHints_NameWhatHelps(t *testing.T) {
	s, tom, _ := prepared(t)
	olga := s.person("olga")
	olga.says(failed, []string{"Try: assay review lake --filter states=completed --dataset=Rivers --publish\n"}, "review", "lake", "--dataset",
		"Rivers", "--publish")
	tom.says(failed, []string{"in place of e"}, "submit", "Lake search", "e=few.txt", "--team", "Otters")
	for _, got := range []string{olga.says(notFound, []string{`There is no team "Otters" in Lake search.`}, "registrations", "accept",
		"Lake search", "Otters"), tom.want(notFound, "final", "nonsense"), tom.want(notFound, "tokens", "delete", "CI")} {
		if strings.Contains(got, "assay login") {
			t.Errorf("a sign-in is no cure for a wrong id:\n%s", got)
		}
	}
	tom.says(notFound, []string{"nonsense: "}, "final", "nonsense")
	olga.want(done, "apply", olga.write("ponds.yaml", "organizer: Lake Lab\ntask: {name: Ponds}\n"))
	olga.says(done, []string{"Ponds has no inputs."}, "download", "Ponds", "-o", olga.folder)
	tom.says(failed, []string{`"not an image" is no name of an image`},
		"submit", "Lake search", "--dataset", "Rivers", "--image", "not an image")
	olga.says(done, []string{"No team is registered."}, "registrations", "Lake search")
	olga.says(failed, []string{"--title: must not be empty"}, "announce", "Lake search", olga.write("news.md", "News."))

	tom.says(failed, []string{`help knows no "nonsense"`}, "help", "nonsense")
	tom.says(failed, []string{`completion knows no "foo"`}, "completion", "foo")
	tom.says(done, []string{"You were not signed in to http://other.example"}, "logout", "http://other.example")
	stranger := &person{t: t, folder: t.TempDir(), home: t.TempDir(), env: map[string]string{"ASSAY_TOKEN": "x"}}
	stranger.says(notSignedIn, []string{"Try: set ASSAY_URL"}, "runs")
}

// TestRanks_CountTheRunsOfTheReader shows a board with a run that is not published: ranks count it for its team, and for nobody else.
func TestRanks_CountTheRunsOfTheReader(t *testing.T) {
	s, tom, _ := prepared(t)
	olga, ann := s.person("olga"), s.person("ann")
	ann.want(done, "submit", "Lake search", "Rivers="+ann.write("run.txt", goodRun), "--wait")
	olga.want(done, "review", "Lake search", "--dataset", "Rivers", "--publish", ann.ids("runs")[0])
	tom.want(done, "submit", "Lake search", "Rivers="+tom.write("run.txt", betterRun), "--wait")
	tom.says(done, []string{"\n(1) ", "\n2 ", "in parentheses"}, "leaderboard", "Lake search", "--dataset", "Rivers")
	if got := tom.says(done, []string{"\n1 "}, "leaderboard", "Lake search", "--dataset", "Rivers", "--public"); strings.Contains(got, "(") {
		t.Errorf("what everyone sees has a run that is not published:\n%s", got)
	}
	if got := ann.want(done, "leaderboard", "Lake search", "--dataset", "Rivers"); strings.Contains(got, "parentheses") {
		t.Errorf("a published run is marked:\n%s", got)
	}
}

// TestRegistrations_AreNamedByTheirTeams lists the members of teams by name, and decides about teams by their names.
func TestRegistrations_AreNamedByTheirTeams(t *testing.T) {
	s, tom, _ := prepared(t)
	olga, ben := s.person("olga"), s.person("ben")
	tom.want(done, "join", "Lake search", "--team", "Otters")
	ben.want(done, "join", "Lake search", "--team", "Beavers", "--anonymous")
	s.person("ann").want(done, "join", strings.TrimSpace(tom.want(done, "invite", "Lake search")))
	olga.says(done, []string{"Otters ", "-            tom, ann\n", "Beavers (alias anonymous-", "-            ben\n"}, "registrations",
		"Lake search")
	tom.says(done, []string{"tom, ann\n"}, "registrations", "Lake search")
	olga.says(done, []string{"rejected  Otters", "rejected  Beavers"}, "registrations", "reject", "Lake search", "otters", "Beavers")
	olga.says(notFound, []string{`There is no team "Oters" in Lake search. Did you mean "Otters"?`}, "registrations", "accept", "Lake search",
		"Oters")
	tom.says(notFound, []string{"Only the organizers of Lake search accept and reject teams."}, "registrations", "accept", "Lake search",
		"Otters")
	cara := s.person("cara")
	cara.want(done, "join", "Lake search", "--team", "Beavers")
	ambiguous := olga.says(failed, []string{`Which team "Beavers" is meant?`, ": ben\n", "  Beavers: cara\n"}, "registrations", "accept",
		"Lake search", "Beavers")
	alias := regexp.MustCompile(`anonymous-\w+`).FindString(ambiguous)
	olga.says(done, []string{"accepted  Beavers (alias " + alias + ")"}, "registrations", "accept", "Lake search", alias)
}

// TestNamesakes_AreDistinguished lists runs of an anonymous team and of a team that took its name later. Organizers see the alias beside
// the name of the first.
func TestNamesakes_AreDistinguished(t *testing.T) {
	s, tom, _ := prepared(t)
	olga, ben := s.person("olga"), s.person("ben")
	for _, p := range []*person{tom, ben} {
		p.want(done, append([]string{"join", "Lake search", "--team", "Blue"}, map[*person][]string{tom: {"--anonymous"}}[p]...)...)
		p.want(done, "submit", "Lake search", "Rivers="+p.write("run.txt", goodRun), "--wait")
	}
	for _, list := range [][]string{{"runs", "--task", "Lake search"}, {"leaderboard", "Lake search", "--dataset", "Rivers"}} {
		got := olga.says(done, []string{"Blue (alias anonymous-"}, list...)
		if strings.Count(got, "Blue") != 2 || strings.Count(got, "(alias") != 1 {
			t.Errorf("%v names two teams:\n%s", list, got)
		}
	}
}
