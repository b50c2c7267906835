package main

import (
	"strings"
	"testing"
)

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
	const note = "Some sentences about datasets assume the task as it is now."
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
