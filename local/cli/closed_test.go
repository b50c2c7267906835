package main

import (
	"strings"
	"testing"
)

// TestSubmit_SaysThatATaskHasClosedBeforeAnythingIsAccepted submits after the close: as a newcomer, as a team that has not accepted the
// terms, and for a team that waits to be accepted. Nobody is registered, and no terms are accepted.
func TestSubmit_SaysThatATaskHasClosedBeforeAnythingIsAccepted(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	tom := s.person("tom")
	zoe := s.person("zoe")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", "1\tlakes\n")
	apply := func(old, changed string) {
		t.Helper()
		olga.want(done, "apply", olga.write("task.yaml", strings.Replace(taskFile, old, changed, 1)))
	}
	apply("", "")
	tom.want(done, "join", "Lake search")
	run := tom.write("run.txt", goodRun)
	const closed = `  terms: {text: Cite us.}
  submissions: {perDay: 5, closesAt: "2020-01-01T00:00:00Z"}`
	apply(`  submissions: {perDay: 5, closesAt: "2099-01-01T00:00:00+01:00"}`, closed)
	for _, p := range []*person{tom, zoe} {
		for _, flags := range [][]string{nil, {"--accept-terms"}} {
			submit := append([]string{"submit", "Lake search", "Rivers=" + run}, flags...)
			got := p.says(outside, []string{"Rivers takes no runs: it closed at 20"}, submit...)
			if strings.Contains(got, "Cite us") {
				t.Errorf("terms are asked for after the close:\n%s", got)
			}
		}
	}
	olga.says(done, []string{"Lake search closed at 20", "A team that registers by the link cannot submit unless"}, "invite", "Lake search",
		"--to-task")
	tom.says(done, []string{"Lake search closed for the team at 20", "admits nobody unless", "assay-invitation_"}, "invite", "Lake search")
	list := decode[[]object](t, olga.want(done, "registrations", "Lake search", "--json"))
	s.person("uma").says(done, []string{"Lake search has closed for submissions: your team can submit only if"}, "join", "Lake search",
		"--accept-terms")
	if len(list) != 1 || list[0]["acceptedTerms"] != nil {
		t.Errorf("there are the registrations %v", list)
	}
	for _, p := range []*person{tom, zoe} {
		got := p.says(done, []string{"No dataset takes a run now. To see why: assay datasets 'Lake search'"}, "runs", "--task", "Lake search")
		if strings.Contains(got, "assay submit") {
			t.Errorf("a command that would be refused is advised: %s", got)
		}
	}
	apply("{mode: open}", "{mode: approval}")
	zoe.want(done, "join", "Lake search", "--accept-terms")
	if got := zoe.says(done, []string{"The team zoe waits for the organizers"}, "runs", "--task", "Lake search"); strings.Contains(got,
		"assay submit") {
		t.Errorf("a team that waits is advised to submit: %s", got)
	}
	zoe.says(done, []string{"No dataset takes a run of them now."}, "runs")
	apply("2099-01-01T00:00:00+01:00", "2020-01-01T00:00:00Z")
	if got := zoe.says(outside, []string{"Rivers takes no runs: it closed at 20", "The team zoe waits for the organizers"}, "submit",
		"Lake search", "Rivers="+run); strings.Contains(got, "Try:") {
		t.Errorf("a team that waits is advised to submit after the close: %s", got)
	}
}

// TestDatasets_SayWhatATeamNeedsBeforeTheOpening lists a dataset that opens later for a team that has not accepted the terms, one that
// waits for the organizers, and one that they reject.
func TestDatasets_SayWhatATeamNeedsBeforeTheOpening(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	tom := s.person("tom")
	zoe := s.person("zoe")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", "1\tlakes\n")
	later := strings.NewReplacer(`  submissions: {perDay: 5, closesAt: "2099-01-01T00:00:00+01:00"}`,
		`  submissions: {opensAt: "2090-01-01T00:00:00Z"}`)
	text := later.Replace(taskFile)
	olga.want(done, "apply", olga.write("task.yaml", text))
	tom.want(done, "join", "Lake search")
	tom.says(done, []string{"  from 20"}, "datasets", "Lake search")
	text = strings.Replace(text, "{mode: open}", "{mode: approval}\n  terms: {text: Cite us.}", 1)
	olga.want(done, "apply", olga.write("task.yaml", text))
	tom.says(done, []string{", once your team has accepted the terms  "}, "datasets", "Lake search")
	zoe.want(done, "join", "Lake search", "--accept-terms")
	zoe.says(done, []string{"  from 20", ", once your team is accepted  "}, "datasets", "Lake search")
	submit := []string{"submit", "Lake search", "Rivers=" + zoe.write("run.txt", goodRun)}
	zoe.says(outside, []string{"Rivers takes no runs: it opens only at 20", "The team zoe waits for the organizers"}, submit...)
	olga.want(done, "registrations", "reject", "Lake search", "zoe")
	if got := zoe.says(done, []string{"  no, your team is not accepted  "}, "datasets", "Lake search"); strings.Contains(got, "from 20") {
		t.Errorf("a rejected team is told when its runs are taken:\n%s", got)
	}
	zoe.says(notFound, []string{"rejected the team zoe, so it does not take part"}, submit...)
}

// TestInvite_SaysWhatTheStateOfTheTeamMeans invites to a team that waits, and to one that is rejected.
func TestInvite_SaysWhatTheStateOfTheTeamMeans(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	tom := s.person("tom")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", "1\tlakes\n")
	olga.want(done, "apply", olga.write("task.yaml", strings.Replace(taskFile, "{mode: open}", "{mode: approval}", 1)))
	tom.want(done, "join", "Lake search", "--team", "Otters")
	tom.says(done, []string{"does not take part yet: the organizers of Lake search have to accept it first"}, "invite", "Lake search")
	olga.says(done, []string{"does not take part yet. To accept it: assay registrations accept 'Lake search' Otters"}, "invite",
		"Lake search", "--team", "Otters")
	s.person("ben").says(done, []string{"Joined the team Otters. The team Otters waits for the organizers of Lake search"},
		"join", strings.TrimSpace(tom.run(t.Context(), "invite", "Lake search").out))
	tom.says(done, []string{"Your team is not accepted. Only the organizers see the other teams."}, "registrations", "Lake search", "--state",
		"accepted")
	olga.want(done, "registrations", "reject", "Lake search", "Otters")
	got := olga.says(failed, []string{"rejected, so nobody can join it", "assay registrations accept 'Lake search' TEAM"}, "invite",
		"Lake search", "--team", "Otters")
	if strings.Contains(got, "Ask") {
		t.Errorf("the organizers are sent to the organizers:\n%s", got)
	}
	tom.says(notFound, []string{"The organizers of Lake search rejected the team Otters", "Ask them"}, "invite", "Lake search")
}

// TestSubmit_NamesNoCommandThatOnlyTheOwnerMayUse submits as a member with a flag that would change the team.
func TestSubmit_NamesNoCommandThatOnlyTheOwnerMayUse(t *testing.T) {
	s, tom, _ := prepared(t)
	tom.want(done, "join", "Lake search", "--team", "Otters")
	ben := s.person("ben")
	ben.want(done, "join", strings.TrimSpace(tom.want(done, "invite", "Lake search")))
	run := ben.write("run.txt", goodRun)
	for _, flag := range []string{"--team=Otterz", "--anonymous", "--contact=x"} {
		got := ben.says(notFound, []string{"You are in the team Otters of Lake search, and only its owner changes it: leave --"},
			"submit", "Lake search", "Rivers="+run, flag)
		if strings.Contains(got, "Try:") {
			t.Errorf("a member is told to change the team:\n%s", got)
		}
	}
}

// TestReject_SaysWhatOthersWillSee rejects a team whose published scores wait for the last close.
func TestReject_SaysWhatOthersWillSee(t *testing.T) {
	_, olga, tom := limited(t)
	file := strings.Replace(limitedFile, "name: Rivers\n",
		"name: Rivers\n    columns: [{key: AP, from: close}]\n    publish: onCompletion\n"+
			"    submissions: {closesAt: \"2099-01-01T00:00:00Z\"}\n", 1)
	olga.want(done, "apply", olga.write("task.yaml", file))
	tom.want(done, "submit", "Lakes", "Rivers="+tom.write("run.txt", goodRun), "--wait")
	olga.says(done, []string{"Once the window of every team has closed, others still see the published results of 1 run of tom on \"Rivers\"" +
		". " +
		"To hide them: assay review Lakes --dataset "}, "registrations", "reject", "Lakes", "tom")
	olga.says(failed, []string{"Which runs are meant?", "Name their dataset by --dataset too: Rivers, Seas, Ponds.",
		"Try: assay review Lakes --dataset Rivers --filter states=completed --publish"}, "review", "Lakes", "--publish")
	olga.says(failed, []string{"assay compare needs a second RUN"}, "compare", "x")
}

// TestPlace_CountsPublishedRuns counts all published entries of a leaderboard, also those without a value, but no hidden ones.
func TestPlace_CountsPublishedRuns(t *testing.T) {
	entries := func() []object {
		return []object{{"evaluationId": "hidden", "rank": 1.0, "hidden": "unpublished"}, {"evaluationId": "mine", "rank": 2.0},
			{"evaluationId": "without a value"}}
	}
	for want, shown := range map[string]board{
		"1 of 2 shown to all who see the task":     {Entries: entries()},
		"1 of those shown to all who see the task": {Entries: entries(), More: true},
	} {
		o := outcome{Evaluation: object{"id": "mine"}}
		o.compare(shown)
		if got := o.rank(); got != want {
			t.Errorf("the rank is %q, want %q", got, want)
		}
	}
}

// TestCompare_SaysThatPIsABound compares runs whose values by example only the organizers see.
func TestCompare_SaysThatPIsABound(t *testing.T) {
	s := serve(t, "embedded")
	olga, tom := s.person("olga"), s.person("tom")
	labels := "id,label\n1,a\n2,b\n3,a\n4,b\n"
	olga.write("labels.csv", labels)
	olga.want(done, "apply", olga.write("birds.yaml", labelsFile))
	tom.want(done, "submit", "Birds", tom.write("run.csv", labels), "--wait")
	tom.want(done, "submit", "Birds", tom.write("other.csv", strings.ReplaceAll(labels, ",b", ",a")), "--wait")
	runs := tom.ids("runs")
	tom.says(done, []string{"P (holm), AT MOST", "p is rounded up, because exact values would tell the truth of single examples."},
		"compare", runs[0], runs[1])
	if got := olga.says(done, []string{"P (holm)"}, "compare", runs[0], runs[1]); strings.Contains(got, "AT MOST") ||
		strings.Contains(got, "rounded") {
		t.Errorf("organizers, who see exact values, read\n%s", got)
	}
}
