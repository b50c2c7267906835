package api_test

import (
	"os"
	"regexp"
	"testing"

	"assay/shared/api"
)

// TestVersion_IsThatOfTheNewestEntryOfTheChangelog, of what servers say of themselves, and of the description of the API.
func TestVersion_IsThatOfTheNewestEntryOfTheChangelog(t *testing.T) {
	changes, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\]`).FindSubmatch(changes)
	if newest == nil {
		t.Fatal("CHANGELOG.md has no version")
	}
	for of, version := range map[string]string{"a server": api.BuildInfo("").Version, "OpenAPI": api.OpenAPI(nil).Info.Version} {
		if version != string(newest[1]) {
			t.Errorf("the version of %s is %q, the newest entry of the changelog %q", of, version, newest[1])
		}
	}
}
