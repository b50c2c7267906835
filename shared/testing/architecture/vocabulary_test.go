package architecture

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// retiredPhrases maps words to plainer words that the tree uses instead. It holds no words that name things in Go, such as set or open.
var retiredPhrases = map[string]string{
	"adopted":    "accepted",
	"adopts":     "accepts",
	"anew":       "again",
	"chore":      "job",
	"farewell":   "shutdown",
	"heed":       "handle, obey or check",
	"henceforth": "from now on",
	"hitherto":   "until now",
	"in vain":    "without success",
	"lest":       "so that ... not",
	"mend":       "fix",
	"mended":     "fixed",
	"nought":     "nothing",
	"respite":    "delay",
	"thereby":    "by that, or nothing at all",
	"whence":     "from where",
	"whoever":    "all who, or the caller",
	"whosoever":  "who, or the caller",
}

// vocabulary is the path of this file, the only one that may have the words.
const vocabulary = "shared/testing/architecture/vocabulary_test.go"

func TestVocabulary_HasNoRetiredPhrase(t *testing.T) {
	for _, f := range textFiles(t) {
		if f.path == vocabulary {
			continue
		}
		for _, phrase := range retiredPhrasesIn(f.content) {
			t.Errorf("%s says %q: say %s", f.path, phrase, retiredPhrases[strings.ToLower(phrase)])
		}
	}
}

var anyRetiredPhrase = regexp.MustCompile(`(?i)\b(` + strings.Join(slices.Sorted(maps.Keys(retiredPhrases)), "|") + `)\b`)

func retiredPhrasesIn(content []byte) []string {
	var found []string
	for _, m := range anyRetiredPhrase.FindAll(content, -1) {
		if !slices.Contains(found, string(m)) {
			found = append(found, string(m))
		}
	}
	return found
}

func TestVocabulary_ChecksCatch(t *testing.T) {
	if got := retiredPhrasesIn([]byte("Whence it comes; whenceforth")); !slices.Equal(got, []string{"Whence"}) {
		t.Errorf("retired phrases: %q", got)
	}
}

// forbiddenTexts lists texts that no file keeps. The patterns are written in pieces so that this file does not match them.
var forbiddenTexts = []struct {
	pattern *regexp.Regexp
	only    string // the extension of the files to search; empty for all files
	reason  string
}{
	{
		pattern: regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX|HA` + `CK)\b`),
		reason:  "finish it now, or file an issue that says what is missing",
	},
	{
		pattern: regexp.MustCompile(`(^|[\s"'(=:` + "`" + `])/(home|root|Users|work)/\w`),
		reason:  "a path of one machine means nothing on another",
	},
	{
		pattern: regexp.MustCompile(`\bt[b]?\.Skip(f|Now)?\(`),
		only:    ".go",
		reason:  "a test that is skipped guards nothing while it looks green; let it run everywhere or remove it",
	},
}

func TestForbiddenTexts_StandNowhere(t *testing.T) {
	for _, f := range textFiles(t) {
		for _, w := range forbiddenTexts {
			if w.only != "" && w.only != path.Ext(f.path) {
				continue
			}
			if found := w.pattern.Find(f.content); found != nil {
				t.Errorf("%s has %q: %s", f.path, found, w.reason)
			}
		}
	}
}

func TestForbiddenTexts_ChecksCatch(t *testing.T) {
	for i, text := range []string{
		"// TO" + "DO: later",
		`os.Open("/` + `home/alice/data")`,
		`t.` + `Skip("not here")`,
	} {
		if !forbiddenTexts[i].pattern.MatchString(text) {
			t.Errorf("%q is let through although: %s", text, forbiddenTexts[i].reason)
		}
	}
	for _, text := range []string{"a HACKathon in ULID 01XXXX", `"/homework"`, "skip := t.Skipped()"} {
		for _, w := range forbiddenTexts {
			if w.pattern.MatchString(text) {
				t.Errorf("%q is refused: %s", text, w.reason)
			}
		}
	}
}
