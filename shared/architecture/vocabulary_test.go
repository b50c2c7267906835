package architecture

import (
	"go/scanner"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// retired has, for each folder, the identifiers that nothing in it is named any more, because a reader would not have searched
// for them: metaphors, and words that mean something else in the field.
var retired = map[string]string{
	"functions": "newWorld newTown newFair newCrowd newLab newAudited newBoards registrationScene taskScene town fair crowd " +
		"mortal",
	"functions/acceptancetest": "Story story newStory chapters scene newScene place masked person nobody hostility evaluatedAnew checkMet",
	"functions/components":     "gadget edits",
	"functions/datasets":       "scene pay move room adopt",
	"functions/evaluations":    "scene choose worth modelPlace keeps",
	"functions/evaluator": "Heed Due Drain Next chore chores attend tick farewell keeping census newAlarms tidy rescue lettersVariable " +
		"alarms letters unservedOf awaited broke scene lagging brittle opening adopts bell ring news Requeue",
	"functions/organizers":    "lab forget",
	"functions/registrations": "notTheirs",
	"functions/runs":          "scene carry",
	"functions/service":       "welcome remark somebodyID",
	"functions/submissions":   "scene meddler eavesdropper lake hold carry forget underWay",
	"functions/tasks":         "carry carries",
	"functions/tools": "Desk NewDesk Parts faces paged charted filed guessedFrom hugest likeness mostNamed pane spoken spool " +
		"tabbed told usualOne writeSpool material",
	"functions/users": "KnowUser somebodyID",
	"grpc/server": "checkHold farewell office gallery cinema played told tell behind grantTime watchTime beats scene counting " +
		"metered stranger silent receiving strangers bell news hopeless offer",
	"grpc/worker": "hopeless insist OfRun Tidy Guard Say Take silence short shortest judge patience patient persist notStarted " +
		"tidy told noted scene lasting begun ending watched capacities",
	"infra":         "letters letterDays settling mostServers keep standIns mayTell assumedBy Keeps",
	"local":         "victim newVictim turmoil hire rage crashStory workStory must running toCome greet leaveWork",
	"local/attack":  "tally calm site newSite crowd hold garble face",
	"shared/access": "standing stranger rival inTask",
	"shared/api": "OrPage Ask Invoke Anything Unchecked Choose KnowUser Group Shown Follow locate inert misfit foreign tagged " +
		"Widest tidyTime afterwards stale scene sc Passing",
	"shared/architecture": "breach walked longest",
	"shared/auth":         "answersTo family identifies remembered stranger verifying",
	"shared/blob":         "arriving awaited incoming copied span repeating asFiles",
	"shared/compute":      "outside patience",
	"shared/config":       "Need speak speaks",
	"shared/corpus":       "densest inWord untagged strange",
	"shared/deletion":     "Follow Patience Passes bring",
	"shared/files":        "Awaited Adopt arrival",
	"shared/gateway":      "Front SetAside complain locked restore",
	"shared/measure":      "Discreet strange told",
	"shared/page":         "Keeps KeepsText Plain",
	"shared/quota":        "admit counting note",
	"shared/runs":         "Discreet Narrowest",
	"shared/truth":        "Adopt Awaited",
	"shared/runlog":       "holding forget copyOf scene",
	"shared/evaluation":   "worth told asked scene",
	"shared/queue":        "Hold HoldOf TakeBack GiveUp Abandon Interrupt Relist Relists Turn Turns leaser absent scene wrong",
	"shared/propagation":  "Patience below bring passed shown unseen standing",
	"shared/record":       "Standing Shown Widest knows past doings folded passedBy told",
	"shared/records":      "thing unspeakable InDoubt Together",
	"shared/store":        "silence beyond brokeOff lostAgainstOthers judge held hold behind machine asked answered sides gather",
	"shared/visibility":   "Narrowest VisibleEverywhere eachSeen visibleUnnamed",
	"shared/webpage":      "Choice Gist gist places ways Shoot hear",
}

// retiredPhrases are the words of prose that have plainer ones. Words that are Go's or English's own, such as set, open, hold
// and due, are none of them.
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

// vocabulary is this file, which has the words that no other may have.
const vocabulary = "shared/architecture/vocabulary_test.go"

func TestVocabulary_HasNoRetiredIdentifier(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.generated || f.path == vocabulary {
			continue
		}
		for _, name := range retiredIn(f.textFile) {
			t.Errorf("%s has the identifier %s, which is retired there: find a name in shared/README.md or in the field", f.path, name)
		}
	}
}

// retiredIn returns the identifiers in a file that are retired in its folder.
func retiredIn(f textFile) []string {
	names := map[string]bool{}
	for folder, list := range retired {
		if f.path == folder || strings.HasPrefix(f.path, folder+"/") {
			for name := range strings.FieldsSeq(list) {
				names[name] = true
			}
		}
	}
	found := map[string]bool{}
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile(f.path, -1, len(f.content)), f.content, nil, 0)
	for last := token.ILLEGAL; ; {
		_, tok, text := s.Scan()
		if tok == token.EOF {
			return slices.Sorted(maps.Keys(found))
		}
		// What another package declares is named there.
		if tok == token.IDENT && last != token.PERIOD && names[text] {
			found[text] = true
		}
		last = tok
	}
}

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
	file := textFile{"shared/queue/a.go", []byte("package queue\n\n// Hold is a word.\nfunc Hold() { other.Abandon() }\n")}
	if got := retiredIn(file); !slices.Equal(got, []string{"Hold"}) {
		t.Errorf("retired in %s: %q", file.path, got)
	}
	file.path = path.Join("shared/page", path.Base(file.path))
	if got := retiredIn(file); got != nil {
		t.Errorf("retired in %s: %q", file.path, got)
	}
	if got := retiredPhrasesIn([]byte("Whence it comes; whenceforth")); !slices.Equal(got, []string{"Whence"}) {
		t.Errorf("retired phrases: %q", got)
	}
}

// forbiddenTexts are texts that may not stay in a file. They are written in pieces, or this file would hold them.
var forbiddenTexts = []struct {
	pattern *regexp.Regexp
	only    string // the extension of the files that are searched; all when empty
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
