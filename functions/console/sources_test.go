package console

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var imported = regexp.MustCompile(`(?:from |import\(|import )"(\.[^"]*)"`)

// TestSources_AreImported finds files that no other file imports, such as a screen that is missing in the table of screen.tsx. They would
// not be in dist.zip, and no other check reports them.
func TestSources_AreImported(t *testing.T) {
	used := map[string]bool{"src/main": true}
	var all []string
	err := filepath.WalkDir("src", func(name string, entry os.DirEntry, err error) error {
		ext := filepath.Ext(name)
		source := (ext == ".ts" || ext == ".tsx") && !strings.HasSuffix(name, ".d.ts") && !strings.HasSuffix(name, "_test.ts")
		if err != nil || entry.IsDir() || !source {
			return err
		}
		name = filepath.ToSlash(name)
		all = append(all, name)
		content, err := os.ReadFile(name)
		for _, found := range imported.FindAllSubmatch(content, -1) {
			used[path.Join(path.Dir(name), string(found[1]))] = true
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("src has %d sources: %v", len(all), err)
	}
	for _, name := range all {
		if !used[strings.TrimSuffix(name, path.Ext(name))] {
			t.Errorf("no file imports %s: a screen needs a line in the table of src/screen.tsx", name)
		}
	}
}
