package main

import (
	"strings"
	"testing"
)

// TestApply_OfDefaultsChangesNothing applies members that equal their defaults to a task and a dataset that were made without them.
func TestApply_OfDefaultsChangesNothing(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	olga.write("labels.csv", "id,label\n1,a\n2,b\n")
	olga.want(done, "apply", olga.write("birds.yaml", labelsFile))
	defaults := strings.Replace(labelsFile, "submissions: {perDay: 20,", `description: ""
  website:
  visibility: public
  featured: false
  registration: {mode: open, opensAt: null}
  terms: {text: ""}
  submissions: {types: [], total: 0, opensAt: null, perDay: 20,`, 1)
	defaults += `    description:
    columns: [{key: Accuracy, lowerIsBetter: false}]
    inputs: []
    truthsPublic: false
    idsPublic: false
    labelsPublic: false
    builds: false
    finalRuns: 0
    submissions: {perDay: 0, closesAt: null}
`
	file := olga.write("birds.yaml", defaults)
	olga.says(done, []string{"would not change task Birds\n", "would not change dataset Songs\n"}, "apply", "--dry-run", file)
	olga.says(done, []string{"unchanged task Birds\n", "unchanged dataset Songs\n"}, "apply", file)
	some := olga.write("birds.yaml", strings.Replace(defaults, "idsPublic: false", "idsPublic: true", 1))
	olga.says(done, []string{"unchanged task Birds\n", "changed dataset Songs: idsPublic\n"}, "apply", some)
	for _, column := range []string{"audiance: team", "decimals: two", "title: 5"} {
		wrong := strings.Replace(defaults, "lowerIsBetter: false", column, 1)
		for _, flags := range [][]string{{"--dry-run"}, nil} {
			olga.says(fileRefused, []string{"datasets[0].columns"}, append([]string{"apply", olga.write("birds.yaml", wrong)}, flags...)...)
		}
	}
	wrong := olga.write("birds.yaml", defaults+"    bilds: false\n")
	for _, flags := range [][]string{{"--dry-run"}, nil} {
		olga.says(fileRefused, []string{"datasets[0].bilds"}, append([]string{"apply", wrong}, flags...)...)
	}
}

// TestApply_OfATaskWithItsDatasets publishes a private task and the ground truth of its dataset in one file. The dry run cannot say how
// the dataset changes after the task, and says so.
func TestApply_OfATaskWithItsDatasets(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	olga.write("labels.csv", "id,label\n1,a\n2,b\n")
	private := strings.NewReplacer("name: Birds", "name: Birds\n  visibility: private", "validation", "training").Replace(labelsFile)
	olga.want(done, "apply", olga.write("birds.yaml", private))
	const task = `Who sees the task "Birds": the organizers and the teams that they accepted → everyone.`
	const truth = "Who gets the truth files: the organizers → "
	const note = "The consequences for datasets assume the stored task."
	file := olga.write("birds.yaml", private+"    truthsPublic: true\n")
	if got := olga.says(done, []string{truth}, "apply", "--dry-run", file); strings.Contains(got, note) {
		t.Errorf("a dry run that does not change the task says\n%s", got)
	}
	file = olga.write("birds.yaml", strings.Replace(private, "private", "public", 1)+"    truthsPublic: true\n")
	olga.says(done, []string{task, truth, note}, "apply", "--dry-run", file)
	if got := olga.says(done, []string{task, truth + "everyone."}, "apply", file); strings.Contains(got, note) {
		t.Errorf("after the change it says\n%s", got)
	}
}

// TestApply_SaysThatLimitsCountMore previews new resources of new and of existing organizers and tasks.
func TestApply_SaysThatLimitsCountMore(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	olga.write("labels.csv", "id,label\n1,a\n2,b\n")
	file := olga.write("birds.yaml", labelsFile)
	const note = "A dry run does not say what your limits count for resources of a new organizer or task.\n"
	olga.says(done, []string{"Your limit of organizers in 24 hours counts 1 more.", note}, "apply", "--dry-run", file)
	if got := olga.says(done, nil, "apply", file); strings.Contains(got, note) {
		t.Errorf("without --dry-run it says\n%s", got)
	}
	another := olga.write("birds.yaml", strings.Replace(labelsFile, "name: Birds", "name: Other birds", 1))
	olga.says(done, []string{"Your limit of tasks in 24 hours counts 1 more.", note}, "apply", "--dry-run", another)
	more := olga.write("birds.yaml", strings.Replace(labelsFile, "name: Songs", "name: Other songs", 1))
	got := olga.says(done, []string{"Your limit of datasets in 24 hours counts 1 more."}, "apply", "--dry-run", more)
	if strings.Contains(got, note) {
		t.Errorf("for a dataset of an existing task it says\n%s", got)
	}
}

// TestApply_OfAnEarlierCloseOfTheTask moves the close of a task, and drops the own close of its dataset. With the stored task, the dataset
// would close at the same time, so the dry run has no sentence about it.
func TestApply_OfAnEarlierCloseOfTheTask(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	olga.write("labels.csv", "id,label\n1,a\n2,b\n")
	file := func(year, closesAt string) string {
		return olga.write("birds.yaml", strings.Replace(labelsFile, "2099", year, 1)+"    submissions: {closesAt: "+closesAt+"}\n")
	}
	olga.want(done, "apply", file("2099", `"2099-01-01T00:00:00Z"`))
	const closes = `Submissions to "Songs" close at 20`
	const note = "The consequences for datasets assume the stored task."
	moved := file("2098", "null")
	if got := olga.says(done, []string{note}, "apply", "--dry-run", moved); strings.Contains(got, closes) {
		t.Errorf("the dry run says\n%s", got)
	}
	olga.says(done, []string{closes}, "apply", moved)
}
