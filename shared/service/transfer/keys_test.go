package transfer

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/storage/store"
)

var placeholder = regexp.MustCompile(`<[A-Za-z]+>`)

// pattern returns an expression for keys that match a key in the comment, in which <id> and the like stand for anything.
func pattern(key string) string {
	return placeholder.ReplaceAllString(regexp.QuoteMeta(key), ".+")
}

// TestKeys_AreDescribed compares the keys and index entries of records of every kind with the comment of keys.go, which readers use as
// the table's schema.
func TestKeys_AreDescribed(t *testing.T) {
	content, err := os.ReadFile("../../domain/record/keys.go")
	if err != nil {
		t.Fatal(err)
	}
	keys, lists, _ := strings.Cut(string(content), "// Lists, by index.")
	lists, _, _ = strings.Cut(lists, "\nconst (")
	var described []string
	for _, found := range regexp.MustCompile(`(?m)^//\t([A-Z][^ /]*) */ ([^ ]+)`).FindAllStringSubmatch(keys, -1) {
		described = append(described, pattern(found[1])+" "+pattern(found[2]))
	}
	key := regexp.MustCompile("^(" + strings.Join(described, "|") + ")$")
	indexes := []string{"ByKind", "ByTask", "ByDataset", "ByUser", "ByOrganizer", "ByWork"}
	entries := map[store.Index]*regexp.Regexp{}
	for i, name := range indexes {
		_, of, _ := strings.Cut(lists, "\t"+name+" ")
		if i+1 < len(indexes) {
			of, _, _ = strings.Cut(of, "\t"+indexes[i+1]+" ")
		}
		var partitions []string
		for _, found := range regexp.MustCompile(`[A-Z]{3,}(#(<[A-Za-z]+>|[A-Za-z]+))*`).FindAllString(of, -1) {
			partitions = append(partitions, pattern(found))
		}
		entries[store.Index(i+1)] = regexp.MustCompile("^(" + strings.Join(partitions, "|") + ")$")
	}
	for _, it := range items(t, newOrigin(t).store) {
		if !key.MatchString(it.Partition + " " + it.Sort) {
			t.Errorf("the comment of keys.go describes no key %s / %s", it.Partition, it.Sort)
		}
		for i, entry := range it.Indexes {
			if !entry.IsZero() && !entries[store.Index(i+1)].MatchString(entry.Partition) {
				t.Errorf("the comment of keys.go describes no partition %s of %s", entry.Partition, indexes[i])
			}
		}
	}
	if record.ByWork != store.Index(len(indexes)) || len(indexes) != store.NumIndexes {
		t.Errorf("this test knows %d indexes of %d", len(indexes), store.NumIndexes)
	}
}
