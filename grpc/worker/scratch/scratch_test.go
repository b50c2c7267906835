package scratch_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/grpc/worker/scratch"
)

func claim(t *testing.T, root, name string) (f *scratch.Folder, cleaned []string, err error) {
	t.Helper()
	f, err = scratch.Claim(root, name, func(folder string) {
		cleaned = append(cleaned, filepath.Base(folder))
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return f, cleaned, err
}

func TestClaim_CleansUpAbandonedFolders(t *testing.T) {
	root := filepath.Join(t.TempDir(), "work")
	dead, _, err := claim(t, root, "../dead")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dead.Path, "01jlease"), 0o700); err != nil {
		t.Fatal(err)
	}
	alive, cleaned, err := claim(t, root, "alive")
	if err != nil || len(cleaned) > 0 {
		t.Fatalf("%v, cleaned up %v although both live", err, cleaned)
	}
	dead.Release() // like the end of its process
	again, cleaned, err := claim(t, root, "../dead")
	if err != nil || !slices.Equal(cleaned, []string{"worker-..%2Fdead"}) {
		t.Errorf("%v, cleaned up %v", err, cleaned)
	}
	if entries, err := os.ReadDir(again.Path); err != nil || len(entries) > 0 {
		t.Errorf("in the folder there are %v, %v", entries, err)
	}
	if _, _, err := claim(t, root, "alive"); err == nil || !strings.Contains(err.Error(), "another -name") {
		t.Errorf("two workers have the name: %v", err)
	}
	alive.Release()
	again.Release()
}

func TestAbandoned_LocksDecide(t *testing.T) {
	root := t.TempDir()
	folder, err := scratch.Claim(root, "living", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if scratch.Abandoned(folder.Path) {
		t.Error("the folder of a living worker is taken for abandoned")
	}
	folder.Release()
	if !scratch.Abandoned(folder.Path) || !scratch.Abandoned(filepath.Join(root, "none")) {
		t.Error("an abandoned folder is not known as such")
	}
}
