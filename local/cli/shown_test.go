package main

import (
	"fmt"
	"strings"
	"testing"
)

// shownFile is a task for users with an invitation. It has a dataset whose runs start blinded, and one whose scores wait for the close.
const shownFile = `organizer: Lake Lab
task:
  name: Lakes
  registration: {mode: closed}
  terms: {text: Cite us.}
datasets:
  - name: Ponds
    split: test
    truths: [qrels.txt]
    runFormat: {kind: trec-run}
    evaluator: {kind: retrieval, measures: [AP]}
  - name: Seas
    split: validation
    columns: [{key: AP, from: close}]
    submissions: {closesAt: "2099-01-01T00:00:00Z"}
    truths: [qrels.txt]
    runFormat: {kind: trec-run}
    evaluator: {kind: retrieval, measures: [AP]}
`

// TestShown_IsWhatOthersSee publishes runs that nobody sees yet. Commands say so, and why leaderboards are empty.
func TestShown_IsWhatOthersSee(t *testing.T) {
	s := serve(t, "embedded")
	olga, tom := s.person("olga"), s.person("tom")
	olga.write("qrels.txt", qrelsFile)
	olga.want(done, "apply", olga.write("task.yaml", shownFile))
	tom.says(done, []string{"Lakes  by invitation"}, "tasks")
	olga.says(done, []string{"No run has a result."}, "leaderboard", "Lakes", "--dataset", "Ponds")
	testInvitationsInWords(olga, tom)
	tom.want(done, "join", strings.TrimSpace(olga.want(done, "invite", "Lakes", "--to-task")), "--team", "Otters",
		"--accept-terms")
	tom.says(notFound, []string{"only its organizers can invite to teams"}, "invite", "Lakes")
	run := tom.write("run.txt", goodRun)
	tom.says(done, []string{"Nobody but the organizers sees scores until the window of every team has closed."},
		"submit", "Lakes", "Ponds="+run, "Seas="+run, "--wait")
	for _, p := range []*person{tom, s.person("zoe")} {
		p.says(done, []string{"You see no result. Runs on this dataset start blinded"},
			"leaderboard", "Lakes", "--dataset", "Ponds")
		p.says(done, []string{"Nothing is shown before 20",
			"when the dataset has closed for every team. From then on, a team sees the results of its runs"},
			"leaderboard", "Lakes", "--dataset", "Seas")
	}
	olga.says(done, []string{"The public leaderboard has no result. Runs on this dataset start blinded: others see"},
		"leaderboard", "Lakes", "--dataset", "Ponds", "--public")
	tom.says(done, []string{"SCORES SHOWN\n", "once unblinded\n", "after the last close\n"}, "datasets", "Lakes")
	publish := []string{"review", "Lakes", "--publish", "--filter", "states=completed", "--dataset"}
	for dataset, why := range map[string]string{
		"Ponds": "Published, but blinded: 1 run. Nobody but the organizers sees the results until --unblind.",
		"Seas":  "Published, but withheld: 1 run.",
	} {
		got := olga.says(done, []string{why, "RESULTS SHOWN TO", "only the organizers"}, append(publish, dataset)...)
		if strings.Contains(got, "yes") {
			t.Errorf("results that nobody sees are shown: %s", got)
		}
	}
	both := "Published, but blinded and withheld: 1 run. Nobody but the organizers sees the results until --unblind, and not before the " +
		"dataset has closed for every team."
	olga.says(done, []string{both}, append(publish, "Seas", "--blind")...)
	olga.says(done, []string{"Published, but withheld: 1 run."}, append(publish, "Seas", "--unblind")...)
	for dataset, said := range map[string]struct{ mark, rank string }{
		"Ponds": {"Otters (published, blinded)", "none while the run is blinded: only the organizers see its scores"},
		"Seas": {"Otters (published, columns hidden)",
			"none until the window of every team has closed: no column of the leaderboard is shown to others before"},
	} {
		board := decode[struct{ Entries []struct{ RunID string } }](t, olga.want(done, "leaderboard", "Lakes", "--dataset", dataset, "--json"))
		olga.says(done, []string{said.mark}, "leaderboard", "Lakes", "--dataset", dataset)
		olga.says(done, []string{said.rank}, "runs", board.Entries[0].RunID)
	}
	olga.says(done, []string{"everyone"}, append(publish, "Ponds", "--unblind")...)
	tom.says(done, []string{"RANK", "Otters"}, "leaderboard", "Lakes", "--dataset", "Ponds")
}

// TestReview_OfRunsOnSeveralDatasets names runs on two datasets by their ids. An id that names no run changes nothing.
func TestReview_OfRunsOnSeveralDatasets(t *testing.T) {
	_, olga, tom := limited(t)
	run := tom.write("run.txt", goodRun)
	tom.want(done, "submit", "Lakes", "Ponds="+run, "Rivers="+run, "--wait")
	runs := tom.ids("runs")
	publish := []string{"review", "Lakes", "--publish"}
	unknown := runs[0][:len(runs[0])-4] + "ZZZZ"
	olga.says(notFound, []string{unknown}, append(publish, runs[0], unknown)...)
	got := olga.says(done, []string{runs[0], runs[1], "Published, but blinded: 1 run.", "everyone"}, append(publish, runs...)...)
	if strings.Count(got, "changed") != 2 || strings.Contains(got, "refused") {
		t.Errorf("the review of runs on two datasets says\n%s", got)
	}
	olga.says(failed, []string{"refused", "The run is on another dataset: "}, append(publish, "--dataset", "Rivers", runs[0], runs[1])...)
	got = olga.want(done, append(publish, runs[0], runs[1], runs[1])...)
	if strings.Count(got, "unchanged") != 2 {
		t.Errorf("the review of runs that are named twice says\n%s", got)
	}
	many := append([]string{}, publish...)
	many = append(many, "--dataset", "Rivers", runs[0], runs[0])
	for i := range mostReviewed {
		many = append(many, fmt.Sprintf("%s%04d", runs[0][:len(runs[0])-4], i))
	}
	got = olga.want(failed, many...)
	if strings.Count(got, "refused") < mostReviewed || strings.Contains(got, "too many") {
		t.Errorf("the review of more runs than a request takes says\n%s", got)
	}
	olga.says(failed, []string{"zz: must be an id of 26 characters"}, append(many[:7:7], "zz")...)
}

// TestReject_SaysWhatOthersStillSee rejects a team with a published run. Reviews by a filter then leave the team out.
func TestReject_SaysWhatOthersStillSee(t *testing.T) {
	_, olga, tom := limited(t)
	tom.want(done, "submit", "Lakes", "Rivers="+tom.write("run.txt", goodRun), "--wait")
	id := olga.ids("registrations", "Lakes")[0]
	if got := olga.want(done, "registrations", "reject", "Lakes", id); strings.Contains(got, "Others") || strings.Contains(got, "FINAL") {
		t.Errorf("results that others do not see: %s", got)
	}
	publish := []string{"review", "Lakes", "--dataset", "Rivers", "--publish", "--filter"}
	olga.says(done, []string{"Left out: 1 run of rejected teams.", "No run was selected."}, append(publish, "states=completed")...)
	olga.says(done, []string{"changed", "everyone"}, append(publish, "registrationIds="+id)...)
	olga.says(done, []string{"unchanged", "everyone"}, append(publish, "registrationIds="+id)...)
	if got := olga.says(done, []string{"unchanged", "everyone"}, append(publish, "states=completed")...); strings.Contains(got, "Left out") {
		t.Errorf("a run whose results everyone sees already is left out:\n%s", got)
	}
	olga.want(done, "registrations", "accept", "Lakes", id)
	said := olga.says(done,
		[]string{"Others still see the results of 1 run of tom on \"Rivers\". To hide them: assay review Lakes --dataset "},
		"registrations", "reject", "Lakes", id)
	_, hide, _ := strings.Cut(strings.TrimSpace(said), "To hide them: assay ")
	olga.says(done, []string{"changed", "the organizers and its team"}, strings.Fields(hide)...)
}

// TestBaselines_HaveNoTeam reviews a baseline, and shows boards of the final and the best runs with it.
func TestBaselines_HaveNoTeam(t *testing.T) {
	s, olga, tom := limited(t)
	olga.want(done, "apply", olga.write("other.yaml", "organizer: Lake Lab\ntask: {name: Ponds}\n"))
	olga.want(done, "apply", olga.write("task.yaml", strings.Replace(limitedFile, "name: Rivers\n", "name: Rivers\n    finalRuns: 2\n", 1)))
	run := olga.write("run.txt", goodRun)
	for range 3 {
		olga.want(done, "submit", "Lakes", "Rivers="+run, "--baseline", "--wait")
	}
	review := []string{"review", "Lakes", "--dataset", "Rivers", "--filter", "states=completed"}
	olga.says(done, []string{"Rivers: No worker for it has been seen for a minute, so a run waits until one comes, for "},
		"submit", "Lakes", "--dataset", "Rivers", "--image", "example.org/x:1", "--baseline")
	olga.says(done, []string{"everyone"}, append(review, "--publish")...)
	for _, flag := range []string{"--best", "--final"} {
		got := olga.want(done, "leaderboard", "Lakes", "--dataset", "Rivers", flag)
		if strings.Count(got, "baseline") != 3 || strings.Contains(got, "Of each team, only runs") != (flag == "--final") {
			t.Errorf("with %s, the board of three baselines is\n%s", flag, got)
		}
	}
	tom.want(done, "submit", "Lakes", "Rivers="+tom.write("run.txt", goodRun), "--wait")
	tom.says(done, []string{"Of each team, only runs that it marked as final are shown, and none of its runs if the results of these are " +
		"hidden from you. If no marked run has a result here, hidden or not, the leaderboard shows the last 2 of the team's runs that you " +
		"see.\n"},
		"leaderboard", "Lakes", "--dataset", "Rivers", "--final")
	olga.says(done, []string{"the organizers and its submitter", "the organizers and its team"}, append(review, "--unpublish")...)
	review[len(review)-1] = "states=completed,failed"
	olga.says(failed, []string{`"failed" names nothing to select by.`, `--filter "states=completed;failed"`}, append(review, "--publish")...)
	self := decode[object](t, olga.want(done, "login", s.url, "--user", "olga", "--json"))
	review[len(review)-1] = "states=completed;failed,userIds=" + self.id()
	got := olga.says(done, []string{"the organizers and its submitter"}, append(review, "--unpublish")...)
	if strings.Contains(got, "its team") {
		t.Errorf("a filter by user and state selects runs of others:\n%s", got)
	}
	olga.says(failed, []string{"belongs to another task than Ponds."}, "review", "Ponds", tom.ids("runs")[0], "--publish")
	tom.want(done, "logout")
	tom.says(failed, []string{"--public does nothing here: you are not signed in, so you see what everyone sees."},
		"leaderboard", "Lakes", "--dataset", "Rivers", "--public", "--server", s.url)
}

// testInvitationsInWords joins and invites without a team. The hints depend on who can register.
func testInvitationsInWords(olga, tom *person) {
	olga.t.Helper()
	for _, command := range []string{"join", "submit"} {
		args := []string{command, "Lakes"}
		if command == "submit" {
			args = append(args, "Ponds="+tom.write("run.txt", goodRun))
		}
		got := tom.says(notFound, []string{"Teams take part in Lakes by invitation. Ask its organizers for one.\nTry: assay join INVITATION"},
			args...)
		if strings.Contains(got, "Cite us.") {
			tom.t.Errorf("terms are asked for although nobody can join: %s", got)
		}
	}
	got := tom.says(notFound, []string{"You have no team in Lakes yet. Teams take part by invitation"}, "invite", "Lakes")
	if strings.Contains(got, "Try:") {
		tom.t.Errorf("the hint does not help: %s", got)
	}
	olga.says(notFound, []string{"Try: assay invite Lakes --to-task"}, "invite", "Lakes")
}

// TestJoin_OfATeamThatWasNotAccepted says what the organizers decided.
func TestJoin_OfATeamThatWasNotAccepted(t *testing.T) {
	s := serve(t, "embedded")
	olga, tom := s.person("olga"), s.person("tom")
	olga.want(done, "apply", olga.write("task.yaml", "organizer: Lake Lab\ntask: {name: Lakes, registration: {mode: approval}}\n"))
	tom.says(done, []string{"by approval"}, "tasks")
	tom.says(done, []string{"The team tom waits for the organizers of Lakes, who have to accept it first."}, "join", "Lakes")
	olga.want(done, "registrations", "reject", "Lakes", olga.ids("registrations", "Lakes")[0])
	got := tom.says(notFound, []string{"The organizers of Lakes rejected the team tom, so it does not take part."}, "join", "Lakes")
	if strings.Contains(got, "takes part in") {
		t.Errorf("a rejected team takes part: %s", got)
	}
}

// TestRuns_SayThatASubmissionIsPrivate names a published run of a private submission, whose id the leaderboard shows, in each command.
func TestRuns_SayThatASubmissionIsPrivate(t *testing.T) {
	s, olga, tom := limited(t)
	for _, title := range []string{"Seals", "Otters"} {
		tom.want(done, "submit", "Lakes", "Rivers="+tom.write("run.txt", goodRun+strings.Repeat(" ", len(title))), "--title", title, "--wait")
	}
	runs := tom.ids("runs")
	olga.want(done, append([]string{"review", "Lakes", "--publish"}, runs...)...)
	ben := s.person("ben")
	ben.says(done, []string{"  " + runs[0] + "  "}, "leaderboard", "Lakes", "--dataset", "Rivers")
	ben.want(done, "compare", runs[0], runs[1])
	private := "The submission of the run " + runs[0] + " is private: you see its values on the leaderboard, but not the run."
	for _, command := range []string{"runs", "logs", "cancel", "final"} {
		ben.says(notFound, []string{private}, command, runs[0])
	}
	olga.want(done, "review", "Lakes", "--unpublish", runs[0])
	ben.says(notFound, []string{"There is nothing with this id, or nothing that you may see."}, "runs", runs[0])
	ben.want(done, "logout")
	ben.says(notFound, []string{strings.Replace(private, runs[0], runs[1], 1), "Try: assay login " + s.url},
		"runs", runs[1], "--server", s.url)
}
