package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func jobOver(t *testing.T, folder string) *Job {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &Job{Folders: []Folder{{Path: folder, Writable: true, Root: root}}, Limits: Limits{Disk: 1 << 20}}
}

func TestOverDisk_UncountableFoldersAreOverTheLimit(t *testing.T) {
	folder := t.TempDir()
	j := jobOver(t, folder)
	if why := overDisk(j); why != "" {
		t.Fatalf("an empty folder: %s", why)
	}
	// Each step is relative, as a program makes folders that are deeper than a path may be long.
	at, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		name := strings.Repeat("d", 200)
		if err := at.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := at.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		at.Close()
		at = next
	}
	defer at.Close()
	if why := overDisk(j); !strings.Contains(why, "cannot be counted, which is over the limit of 1 MiB") {
		t.Errorf("deep folders: %q", why)
	}
}

func TestOverDisk_CountsAReplacedFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "output")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	j := jobOver(t, folder)
	if err := os.WriteFile(filepath.Join(folder, "run"), make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(folder, folder+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), folder); err != nil {
		t.Fatal(err)
	}
	if why := overDisk(j); !strings.Contains(why, "It wrote 2 MiB into its folders") {
		t.Errorf("%q", why)
	}
}

func TestOverDisk_IgnoresLinks(t *testing.T) {
	folder := t.TempDir()
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"file": large, "folder": filepath.Dir(large), "self": "."} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if why := overDisk(jobOver(t, folder)); why != "" {
		t.Error(why)
	}
}
