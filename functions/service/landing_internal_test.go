package service

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

func TestStage_FollowsTheSubmissionWindow(t *testing.T) {
	opens := record.At(time.Date(2027, 1, 2, 3, 4, 0, 0, time.UTC))
	closes := record.At(time.Date(2027, 2, 3, 4, 5, 0, 0, time.UTC))
	type sets = []record.DatasetSubmissions
	inherited := sets{{}}
	for _, c := range []struct {
		rules    record.SubmissionRules
		datasets []record.DatasetSubmissions
		now      time.Time
		want     string
		open     bool
	}{
		{record.SubmissionRules{}, inherited, opens.Time, "Open for registration, no deadline for submissions", true},
		{record.SubmissionRules{OpensAt: &opens}, inherited, opens.Time, "Open for registration, no deadline for submissions", true},
		{record.SubmissionRules{OpensAt: &opens}, inherited, opens.Add(-time.Second), "Opens on 2 January 2027, 03:04 UTC", false},
		{record.SubmissionRules{OpensAt: &opens, ClosesAt: &closes}, inherited, opens.Add(-time.Second),
			"Opens on 2 January 2027, 03:04 UTC, closes on 3 February 2027, 04:05 UTC", false},
		{record.SubmissionRules{OpensAt: &opens, ClosesAt: &closes}, inherited, closes.Add(-time.Second),
			"Open for registration, submissions until 3 February 2027, 04:05 UTC", true},
		{record.SubmissionRules{ClosesAt: &closes}, inherited, closes.Time, "Closed on 3 February 2027, 04:05 UTC", false},
		{record.SubmissionRules{}, sets{{ClosesAt: &closes}}, closes.Time, "Closed on 3 February 2027, 04:05 UTC", false},
		{record.SubmissionRules{ClosesAt: &opens}, sets{{}, {ClosesAt: &closes}}, opens.Time,
			"Open for registration, submissions until 3 February 2027, 04:05 UTC", true},
		{record.SubmissionRules{}, nil, opens.Time, "No dataset yet", false},
		{record.SubmissionRules{ClosesAt: &closes}, nil, closes.Time, "Closed on 3 February 2027, 04:05 UTC", false},
	} {
		if got := stageOf(&record.Task{TaskDraft: record.TaskDraft{Submissions: c.rules}}, c.datasets, c.now); got != (stage{c.want, c.open}) {
			t.Errorf("at %v it is %+v, want %q", c.now, got, c.want)
		}
	}
}

// TestStages_ReadABoundedPartOfTheDatasets reads the stages of a task with long descriptions of datasets, and of a task with many datasets.
func TestStages_ReadABoundedPartOfTheDatasets(t *testing.T) {
	r := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{}))
	long, many := r.Task(), r.Task()
	r.Batch(func() {
		for range 10 {
			long.Dataset(func(d *record.DatasetItem) { d.Description = strings.Repeat("x", 64<<10) })
		}
		for range record.MaxTaskDatasets {
			many.Dataset()
		}
	})
	v := landingView{store: &counted{Store: r.Store}, now: r.Now(), tasks: []shownTask{{Task: &long.Task}, {Task: &many.Task}}}
	if err := v.findStages(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v.tasks[0].stage != unread || !v.tasks[1].stage.open {
		t.Errorf("%+v, %+v", v.tasks[0].stage, v.tasks[1].stage)
	}
	if read := v.store.(*counted).bytes.Load(); read > 3*maxDatasetBytes {
		t.Errorf("the datasets that the page reads take %d bytes", read)
	}
}

// TestLanding_OffersWhatTeamsCanJoin shows tasks that teams can join, and tasks that they cannot join any more or without an invitation.
func TestLanding_OffersWhatTeamsCanJoin(t *testing.T) {
	r := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{}))
	past := new(record.At(r.Now().Add(-time.Hour)))
	future := new(record.At(r.Now().Add(time.Hour)))
	for name, c := range map[string]struct {
		rules       record.RegistrationRules
		submissions record.SubmissionRules
		want        bool
	}{
		"open":                {record.RegistrationRules{Mode: record.Open, ClosesAt: future}, record.SubmissionRules{}, true},
		"by approval":         {record.RegistrationRules{Mode: record.Approval}, record.SubmissionRules{}, true},
		"not yet submissions": {record.RegistrationRules{Mode: record.Open}, record.SubmissionRules{OpensAt: future}, true},
		"by invitation":       {record.RegistrationRules{Mode: record.Closed}, record.SubmissionRules{}, false},
		"registration over":   {record.RegistrationRules{Mode: record.Open, ClosesAt: past}, record.SubmissionRules{}, false},
		"closed":              {record.RegistrationRules{Mode: record.Open}, record.SubmissionRules{ClosesAt: past}, false},
	} {
		task := r.Task(func(t *record.TaskItem) { t.Registration, t.Submissions = c.rules, c.submissions })
		task.Dataset()
		v := landingView{store: r.Store, now: r.Now(), tasks: []shownTask{{Task: &task.Task}}}
		if err := v.findStages(t.Context()); err != nil {
			t.Fatal(err)
		}
		var page strings.Builder
		if err := landingPage(v).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(page.String(), "Take part</a>"); got != c.want {
			t.Errorf("%s: the page offers to take part: %v", name, got)
		}
	}
}

// counted counts the bytes that queries return.
type counted struct {
	store.Store
	bytes atomic.Int64
}

func (c *counted) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	items, err := c.Store.Query(ctx, q)
	for _, it := range items {
		c.bytes.Add(int64(len(it.Data)))
	}
	return items, err
}

func TestStage_FollowsTheRegistrationRules(t *testing.T) {
	now := time.Date(2027, 1, 2, 3, 4, 0, 0, time.UTC)
	past := record.At(time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC))
	future := record.At(time.Date(2028, 1, 2, 3, 4, 0, 0, time.UTC))
	const limited = "Open to those who are registered, no deadline for submissions"
	for _, c := range []struct {
		rules record.RegistrationRules
		want  stage
	}{
		{record.RegistrationRules{Mode: record.Approval, OpensAt: &past, ClosesAt: &future}, stage{
			"Open to teams that the organizers accept, no deadline for submissions", true}},
		{record.RegistrationRules{Mode: record.Closed}, stage{limited, false}},
		{record.RegistrationRules{Mode: record.Open, OpensAt: &future}, stage{limited, false}},
		{record.RegistrationRules{Mode: record.Open, ClosesAt: &past}, stage{limited, false}},
	} {
		if got := stageOf(&record.Task{TaskDraft: record.TaskDraft{Registration: c.rules}}, []record.DatasetSubmissions{{}}, now); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.rules, got, c.want)
		}
	}
}

// The commands to sign in depend on the issuer of tokens.
func TestSignIn_DependsOnTheIssuer(t *testing.T) {
	for issuer, want := range map[string]string{
		"http://localhost/dev":       "$ASSAY_URL/dev/token",
		"https://issuer.example.org": "curl -sS https://issuer.example.org/.well-known/openid-configuration",
		"":                           "<issuer>/.well-known",
	} {
		got := (&landingView{base: "http://localhost", issuer: issuer, development: issuer == "http://localhost/dev"}).signIn()
		if !strings.Contains(got, want) || !strings.HasPrefix(got, "export ASSAY_URL=http://localhost\n") ||
			!strings.Contains(got, "\nexport ASSAY_TOKEN=") ||
			// zsh treats # as text, not as a comment.
			!strings.Contains(got, "-X PATCH") || !strings.Contains(got, "-d '{}' $ASSAY_URL/v1/user") || strings.Contains(got, "#") {
			t.Errorf("with the issuer %q: %s", issuer, got)
		}
	}
	v := landingView{base: "http://localhost", issuer: "https://issuer.example.org", clientID: "assay"}
	if got := v.signIn(); !strings.Contains(got, "\nexport ASSAY_TOKEN=") || strings.Contains(got, "openid-configuration") {
		t.Errorf("with a client: %s", got)
	}
}

// The command to register accepts the terms of the task in the example.
func TestRegister_AcceptsTheTermsOfTheExample(t *testing.T) {
	for version, want := range map[int64]string{0: `'{"team":"Our team"}'`, 3: `'{"team":"Our team","acceptedTerms":3}'`} {
		task := shownTask{Task: &record.Task{}}
		task.stage.open = true
		if version > 0 {
			task.Terms = &record.Terms{Version: version}
		}
		v := landingView{tasks: []shownTask{task}}
		v.chooseExample()
		if got := v.register(); !strings.Contains(got, want) {
			t.Errorf("terms of version %d: %s", version, got)
		}
	}
}
