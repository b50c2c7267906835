package tools_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions/tools"
	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
)

// leaderboard returns the answer of the tool for the server's dataset.
func (s *toolServer) leaderboard(user string, pairs ...any) tools.LeaderboardOutput {
	s.t.Helper()
	return answer[tools.LeaderboardOutput](s, user, "leaderboard", withMembers(object{"datasetId": s.dataset.ID}, pairs...))
}

// entryRanks lists rank and team of the entries. The rank of entries without one is 0.
func entryRanks(out tools.LeaderboardOutput) string {
	var b strings.Builder
	for _, e := range out.Entries {
		fmt.Fprintf(&b, "%d:%s ", e.Rank, strings.TrimPrefix(e.Team, "team of "))
	}
	return strings.TrimSpace(b.String())
}

func TestLeaderboard_ShowsWhatTheCallerSees(t *testing.T) {
	s := newToolServer(t, record.Public)
	even := func(v float64) map[string]float64 { return topicValues(v, v) }
	s.addEvaluatedRun(runSpec{user: "ada", ap: even(.25)})
	s.addEvaluatedRun(runSpec{user: "bob", ap: even(.5), rr: new(.1)})
	s.addEvaluatedRun(runSpec{user: "ada", ap: even(.5), rr: new(.9)})
	s.addEvaluatedRun(runSpec{user: "cid", ap: nil})
	s.addEvaluatedRun(runSpec{user: "dan", ap: even(.375), anonymous: true})
	s.addEvaluatedRun(runSpec{user: "eve", ap: even(.9), hidden: true})
	s.addEvaluatedRun(runSpec{user: "eve", ap: even(.8), blinded: true})
	for _, tt := range []struct {
		user, want string
		input      object
	}{
		{"", "1:bob 1:ada 3:Nocturnal Otter 0:cid", object{}},
		{"", "1:bob 1:ada 3:Nocturnal Otter 4:ada 0:cid", object{"best": false}},
		{"", "1:bob 1:ada", object{"limit": 2}},
		{"", "1:ada 2:bob 0:cid 0:Nocturnal Otter", object{"measure": "RR"}},
		{"dan", "1:bob 1:ada 3:dan 0:cid", object{}},
		{"eve", "1:eve 2:bob 2:ada 4:Nocturnal Otter 0:cid", object{}},
		{"olga", "1:eve 2:eve 3:bob 3:ada 5:dan 6:ada 0:cid", object{"best": false}},
		{"root", "1:eve 2:bob 2:ada 4:dan 0:cid", object{}},
	} {
		tt.input["datasetId"] = s.dataset.ID
		var out tools.LeaderboardOutput
		answer := s.invoke(http.StatusOK, &out, tt.user, "leaderboard", tt.input)
		if got := entryRanks(out); got != tt.want {
			t.Errorf("%v as %q: %s, want %s", tt.input, tt.user, got, tt.want)
		}
		if out.Dataset.Name != "Waters" || out.Task.Name != "Lakes" || out.More != (tt.input["limit"] != nil) {
			t.Errorf("%v as %q: %+v", tt.input, tt.user, out)
		}
		if anonymous := tt.user == ""; anonymous &&
			(strings.Contains(string(answer.Body), "of dan") || strings.Contains(string(answer.Body), "of eve")) {
			t.Errorf("an anonymous caller sees who is anonymous or unpublished: %s", answer.Body)
		}
	}
}

// The public view is the same for all readers. In their own views, entries that others cannot see are marked and counted.
func TestLeaderboard_MarksEntriesHiddenFromOthers(t *testing.T) {
	s := newToolServer(t, record.Public)
	s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.5), public: true})
	s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.5), public: true})
	s.addEvaluatedRun(runSpec{user: "dan", ap: topicValues(.4), anonymous: true, public: true})
	s.addEvaluatedRun(runSpec{user: "eve", ap: topicValues(.9), hidden: true})
	s.addEvaluatedRun(runSpec{user: "eve", ap: topicValues(.8), blinded: true})
	links := regexp.MustCompile(`"links":.*`)
	ask := func(user, view, accept string) string {
		input := object{"datasetId": s.dataset.ID, "best": false, "view": view}
		return links.ReplaceAllString(string(s.invoke(http.StatusOK, nil, user, "leaderboard", input, "Accept", accept).Body), "")
	}
	public := ask("", "public", "application/json")
	if want := strings.Replace(ask("", "caller", "application/json"), `"view":"caller"`, `"view":"public"`, 1); public != want {
		t.Errorf("the public view is\n%s, want what an anonymous caller gets:\n%s", public, want)
	}
	for user, want := range map[string]struct {
		notPublic      int
		marks, lacking []string
	}{
		"unrelated": {0, nil, []string{"Not public:", "(alias ", "not published"}},
		"dan":       {0, []string{"(alias Nocturnal Otter)</bdi>"}, []string{"Not public:"}},
		"eve":       {1, []string{"Not public: 1 of 4 entries", ">not published</span>"}, []string{"blinded</span>", "(alias "}},
		"olga": {2, []string{"Not public: 2 of 5 entries", ">not published</span>", ">published, blinded</span>",
			"(alias Nocturnal Otter)</bdi>"}, nil},
	} {
		if got := ask(user, "public", "application/json"); got != public {
			t.Errorf("as %q the public view is\n%s, want\n%s", user, got, public)
		}
		if own := ask(user, "caller", "application/json"); !strings.Contains(own, fmt.Sprintf(`"notPublic":%d`, want.notPublic)) {
			t.Errorf("as %q: %s", user, own)
		}
		page := ask(user, "caller", "text/html")
		s.wantTexts(page, append(want.marks, "All runs that you see", "As the public sees it")...)
		page += ask(user, "public", "text/html")
		for _, mark := range append(want.lacking, "All runs that everyone sees") {
			if strings.Contains(page, mark) != (mark == "All runs that everyone sees") {
				t.Errorf("as %q, that the pages have %q is wrong", user, mark)
			}
		}
	}
	if chart := ask("", "public", "image/svg+xml"); !strings.Contains(chart, "team of ada (2)") {
		t.Errorf("the bars do not distinguish the runs of a team: %s", chart)
	}
}

func TestLeaderboard_IntervalsContainTheMean(t *testing.T) {
	s := newToolServer(t, record.Public)
	_, e := s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.1, .4, .3, .9, .5)})
	_, other := s.addEvaluatedRun(runSpec{user: "bob", ap: topicValues(.1, .2)})
	other.Measures["AP"] = new(.7) // a measure that is no mean over topics
	s.records.Replace(other)
	out := s.leaderboard("")
	i := slices.IndexFunc(out.Entries, func(o tools.LeaderboardEntry) bool { return o.EvaluationID == e.ID })
	if got := out.Entries[i].Interval; got == nil || !(got.Low < .44 && .44 < got.High && got.Low >= .1 && got.High <= .9) {
		t.Errorf("%+v", got)
	}
	if got := out.Entries[1-i].Interval; got != nil {
		t.Errorf("a value that is no mean has the interval %+v", got)
	}
}

// entryGroups lists the letters of the entries.
func entryGroups(out tools.LeaderboardOutput) string {
	var all []string
	for _, e := range out.Entries {
		all = append(all, e.Group)
	}
	return strings.Join(all, " ")
}

// TestLeaderboard_GroupsByHand compares two equal runs and a run that is better by .5 on each of ten topics. t is not defined for
// any of these differences. For the better run p is 2/1024, which Holm's correction raises to 3 * 2/1024. For the equal runs p is
// 1.
func TestLeaderboard_GroupsByHand(t *testing.T) {
	s := newToolServer(t, record.Public)
	same := map[string]float64{}
	better := map[string]float64{}
	around := map[string]float64{}
	for i := range 10 {
		topic := fmt.Sprint(i)
		same[topic] = .25
		better[topic] = .75
		around[topic] = .25 + []float64{.25, -.25}[i%2]
	}
	s.addEvaluatedRun(runSpec{user: "ada", ap: same})
	s.addEvaluatedRun(runSpec{user: "bob", ap: better})
	s.addEvaluatedRun(runSpec{user: "cid", ap: same})
	out := s.leaderboard("")
	if got := entryRanks(out) + " / " + entryGroups(out); got != "1:bob 2:ada 2:cid / a b b" || out.Compared != 3 {
		t.Errorf("%s of %d", got, out.Compared)
	}
	// A run whose values vary as widely as the other runs differ is not distinguished from them, and belongs to both groups. Its
	// differences from bob alternate between .25 and .75, so t = 6 and p = .0002. Holm's correction for six pairs raises p to
	// .0010.
	s.addEvaluatedRun(runSpec{user: "dan", ap: around})
	s.addEvaluatedRun(runSpec{user: "eve", ap: nil})
	out = s.leaderboard("")
	if got := entryRanks(out) + " / " + entryGroups(out); got != "1:bob 2:ada 2:cid 2:dan 0:eve / a b b b " || out.Compared != 4 {
		t.Errorf("%s of %d", got, out.Compared)
	}
	const note = "Of the entries with letters, two that share none differ at the level of 0.05. Two that share a letter may differ as well: " +
		"a comparison of fewer runs is corrected for fewer pairs. A paired t-test compared each two of the first 4 entries with values by " +
		"topic over the topics that both have, with Holm’s correction for 6 pairs. Where two differ by the same value on each topic, the " +
		"statistic is infinite and p is 0."
	if out.GroupsNote != note {
		t.Errorf("groups: %q, want %q", out.GroupsNote, note)
	}
	s.wantTexts(s.page("", "leaderboard", object{"datasetId": s.dataset.ID}), "Two that share a letter may differ as well")
}

// TestLeaderboard_HasNoGroupsOfGeometricMeans: tests of the values of topics would compare their arithmetic means.
func TestLeaderboard_HasNoGroupsOfGeometricMeans(t *testing.T) {
	s := newToolServer(t, record.Public)
	for name, compared := range map[string]int{"AP": 2, "GMAP": 0} {
		s.dataset = s.task.Dataset(func(d *record.DatasetItem) {
			d.Evaluator = record.Evaluator{Kind: string(measure.Retrieval), Measures: []string{name}}
		}, s.records.Truths("qrels.txt", datasetQrels))
		for _, user := range []string{"ada", "bob"} {
			s.newRun(runSpec{user: user}, func(r *recordtest.Run) {
				r.Evaluation.Measures = map[string]*float64{name: new(.2)}
				r.Topics.PerTopic = map[string]map[string]float64{"1": {name: .1}, "2": {name: .4}}
			})
		}
		if out := s.leaderboard(""); out.Measure != name || len(out.Entries) != 2 || out.Compared != compared {
			t.Errorf("by %s, %d of %d entries are compared, as by %s", out.Measure, out.Compared, len(out.Entries), name)
		}
	}
}

// TestLeaderboard_RankChangesBetweenTruths adds entries to only one version. In the earlier version fay was the best and was
// then removed. In the newer version gil is the best and is new. Neither is a change of the truth, so neither changes the ranks
// of the others. hal loses the value and with it the rank, and ian gains both.
func TestLeaderboard_RankChangesBetweenTruths(t *testing.T) {
	s := newToolServer(t, record.Public)
	s.invoke(http.StatusUnprocessableEntity, nil, "", "leaderboard", object{"datasetId": s.dataset.ID, "against": 1})
	users := []string{"ada", "bob", "cid", "dan", "eve", "fay", "gil", "hal", "ian"}
	before := []float64{.9, .8, .8, .5, .1, .95, 0, .85, 0}
	after := []float64{.9, .8, .8, .85, .95, 0, .99, 0, .82}
	ap := func(value float64) map[string]float64 {
		if value == 0 {
			return nil
		}
		return topicValues(value)
	}
	was := map[string]*record.RunItem{}
	for i, user := range users {
		if user == "gil" {
			continue
		}
		run, e := s.addEvaluatedRun(runSpec{user: user, ap: ap(before[i]), hidden: user == "eve"})
		e.Unlisted = true
		s.records.Replace(e)
		was[user] = run
	}
	s.nextTruthVersion()
	for i, user := range users {
		if user != "fay" {
			s.addEvaluatedRun(runSpec{user: user, ap: ap(after[i]), hidden: user == "eve", earlier: was[user]})
		}
	}
	for user, want := range map[string][]string{
		"":     {"gil new", "ada 1+0", "dan 4+2", "ian new", "bob 2-1", "cid 2-1", "hal"},
		"eve":  {"gil new", "eve 5+4", "ada 1-1", "dan 4+1", "ian new", "bob 2-2", "cid 2-2", "hal"},
		"olga": {"gil new", "eve 5+4", "ada 1-1", "dan 4+1", "ian new", "bob 2-2", "cid 2-2", "hal"},
	} {
		for _, limit := range []int{len(want), 2} { // entries beyond the limit count, too
			for _, best := range []bool{true, false} {
				out := s.leaderboard(user, "against", 1, "limit", limit, "best", best)
				var got []string
				for _, e := range out.Entries {
					name := strings.TrimPrefix(e.Team, "team of ")
					switch {
					case e.Change == nil:
					case e.Change.Absent:
						name += " new"
					default:
						name += fmt.Sprintf(" %d%+d", e.Change.Rank, e.Change.Difference)
					}
					got = append(got, name)
				}
				if !slices.Equal(got, want[:limit]) || out.More != (limit < len(want)) {
					t.Errorf("of the first %d as %q: %q, want %q", limit, user, got, want[:limit])
				}
			}
		}
	}
	s.wantTexts(s.page("", "leaderboard", object{"datasetId": s.dataset.ID, "against": 1}), "up 2 from 4", "down 1 from 2", "the same", "new",
		"among the entries of both: 1 up, 2 down, 1 the same, 2 new.")
	for _, against := range []int{2, 3, -1} {
		s.wantRefusal("", "leaderboard", refusal{object{"datasetId": s.dataset.ID, "against": against}, "/against", ""})
	}
}

// TestLeaderboard_BlindedRunHasNoEarlierRank shows the newest result to its owner, but not the older one.
func TestLeaderboard_BlindedRunHasNoEarlierRank(t *testing.T) {
	s := newToolServer(t, record.Public)
	old, _ := s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.9), blinded: true})
	other, _ := s.addEvaluatedRun(runSpec{user: "bob", ap: topicValues(.5)})
	s.nextTruthVersion()
	s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.9), hidden: true, earlier: old})
	s.addEvaluatedRun(runSpec{user: "bob", ap: topicValues(.5), earlier: other})
	out := s.leaderboard("ada", "against", 1)
	if got := entryRanks(out); got != "1:ada 2:bob" || !out.Entries[0].Change.Absent || out.Entries[1].Change.Rank != 1 {
		t.Errorf("%s: %+v %+v", got, out.Entries[0].Change, out.Entries[1].Change)
	}
}

// TestLeaderboard_ComparesTeamsAcrossRuns gives a team another best run for each truth version.
func TestLeaderboard_ComparesTeamsAcrossRuns(t *testing.T) {
	s := newToolServer(t, record.Public)
	var runs []*record.RunItem
	for _, v := range []float64{.9, .1} {
		run, _ := s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(v)})
		runs = append(runs, run)
	}
	s.nextTruthVersion()
	s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.2), earlier: runs[0]})
	s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.8), earlier: runs[1]})
	for best, want := range map[bool]tools.LeaderboardChange{true: {Rank: 1}, false: {Rank: 2, Difference: 1}} {
		if got := *s.leaderboard("", "against", 1, "best", best).Entries[0].Change; got != want {
			t.Errorf("best %v: %+v, want %+v", best, got, want)
		}
	}
}

func TestLeaderboard_RefusesInvalidInputs(t *testing.T) {
	s := newToolServer(t, record.Public)
	s.wantRefusals("leaderboard", map[string]refusal{
		"no dataset":       {object{}, "/datasetId", ""},
		"no id":            {object{"datasetId": "x"}, "/datasetId", ""},
		"unknown measure":  {object{"datasetId": s.dataset.ID, "measure": "P@1"}, "/measure", ""},
		"too many entries": {object{"datasetId": s.dataset.ID, "limit": 201}, "/limit", ""},
	})
}

// TestLeaderboard_EntityTagFollowsEntries makes changes that the answer shows, and changes that it does not show.
func TestLeaderboard_EntityTagFollowsEntries(t *testing.T) {
	s := newToolServer(t, record.Public)
	_, e := s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.5), anonymous: true, public: true})
	path := s.resultURL("leaderboard", object{"datasetId": s.dataset.ID})
	tag := func(user string) string {
		return s.Want(http.StatusOK, nil, user, http.MethodGet, path, nil).Header.Get("ETag")
	}
	first := tag("")
	if tag("olga") == first {
		t.Error("organizers see the team and have the same tag")
	}
	s.addEvaluatedRun(runSpec{user: "bob", ap: topicValues(.4), blinded: true})
	if got := tag(""); got != first {
		t.Error("what is hidden changes the tag")
	}
	e.Measures["AP"] = new(.6)
	record.Touch(e, time.Now())
	s.records.Replace(e)
	second := tag("")
	s.addEvaluatedRun(runSpec{user: "bob", ap: topicValues(.4)})
	if second == first || tag("") == second {
		t.Error("a change keeps the tag")
	}
}

// TestLeaderboard_LinksToReadableRuns follows the links of the answer as its caller.
func TestLeaderboard_LinksToReadableRuns(t *testing.T) {
	s := newToolServer(t, record.Public)
	s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.5, .25)})
	s.addEvaluatedRun(runSpec{user: "bob", ap: topicValues(.4, .5)})
	out := s.leaderboard("")
	for _, link := range []string{out.Links.Significance, out.Links.Topics} {
		s.Want(http.StatusOK, nil, "", http.MethodGet, link, nil)
	}
	if out.Links.Diffir != "" {
		t.Errorf("runs that are not public are linked to: %s", out.Links.Diffir)
	}
	a, _ := s.addEvaluatedRun(runSpec{user: "cid", ap: topicValues(.1, .1), public: true})
	b, _ := s.addEvaluatedRun(runSpec{user: "dan", ap: topicValues(.1, .05), public: true})
	out = s.leaderboard("")
	if !strings.Contains(out.Links.Diffir, a.ID) || !strings.Contains(out.Links.Diffir, b.ID) {
		t.Errorf("public runs are not linked to: %s", out.Links.Diffir)
	}
	s.wantTexts(s.page("", "leaderboard", object{"datasetId": s.dataset.ID}),
		s.resultURL("leaderboard", object{"datasetId": s.dataset.ID, "measure": "RR"}))
}

// TestLeaderboard_LargestPage checks the size of a page of 200 entries and 50 measures, and that names do not become markup.
func TestLeaderboard_LargestPage(t *testing.T) {
	s := newToolServer(t, record.Public)
	for i := range 48 {
		s.dataset.Evaluator.Measures = append(s.dataset.Evaluator.Measures, fmt.Sprintf("P@%d", i+1))
	}
	s.dataset.Name = injections[0]
	s.task.Name = injections[1]
	s.dataset.TruthVersion = 3
	s.records.Replace(s.dataset.DatasetItem)
	s.records.Replace(s.task.TaskItem)
	for i := range 201 {
		s.addEvaluatedRun(runSpec{user: fmt.Sprint("user", i), team: injections[i%len(injections)], baseline: i%9 == 0,
			ap: topicValues(float64(i)/300, float64(i%7)/7, float64(i%11)/11)})
	}
	s.checkPage("leaderboard", object{"datasetId": s.dataset.ID, "limit": 200, "against": 1})
}
