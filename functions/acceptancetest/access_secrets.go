package acceptancetest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Texts that few callers may read, each of one resource.
const (
	truthFile     = "hidden-truth.csv"
	truthLabel    = "unspoken-label"
	truthID       = "unheard-of-id"      // of the dataset that is for validation
	testID        = "unheard-of-test-id" // of the test set, and of the owner's runs on it
	lackedID      = "id-that-runs-lack"  // of the test set that runs fail on: no run and no input has it
	testTopic     = "unheard-of-topic"   // of the test set for retrieval
	guess         = "guess"              // a label of runs on the dataset for validation, which its truth does not have
	testGuess     = "guess-at-test"      // and of those on the test set
	anonymousName = "Otters without a name"
	ownersContact = "owner@contact.example.org"
	reviewComment = "What the organizers say of it"
	privateTitle  = "private title"
	truthDocument = "unheard-of-document" // of truths for retrieval
	privateText   = "text-of-a-private-task"
)

// secret is a text that only some callers may find in any answer.
type secret struct {
	what, text string
	known      []string // callers
}

// noLabel is how a diagnostic says that the truth does not have a label, as it stands in JSON.
func noLabel(label string) string { return `has no label \"` + label + `\"` }

func (f *fixture) listSecrets() []secret {
	organizers := []string{"organizer", "admin"}
	owners := append([]string{"owner"}, organizers...)
	registrants := append([]string{"registrant"}, owners...)
	all := []secret{
		{"the name of a truth file", truthFile, append([]string{"worker"}, organizers...)},
		{"a label of the truth", truthLabel, append([]string{"worker"}, organizers...)},
		{"an id of the truth", truthID, owners},
		{"an id of a test set's truth that the owner's runs have", testID, owners},
		{"an id that only a test set's truth has", lackedID, organizers},
		{"a topic of a test set's truth", testTopic, organizers},
		{"that the truth lacks a label", noLabel(guess), owners},
		{"that a test set's truth lacks a label", noLabel(testGuess), organizers},
		{"who an anonymous team is", anonymousName, organizers},
		{"who is in an anonymous team", f.anonymous.user, organizers},
		{"the registration of an anonymous team", f.anonymous.registration, organizers},
		{"how to reach a team", ownersContact, owners},
		{"a review", reviewComment, owners},
		{"a private entry", privateTitle, owners},
		{"a document of the truth", truthDocument, append([]string{"worker"}, organizers...)},
		{"a text of a private task", privateText, registrants},
		{"a private task", f.private.task, registrants},
		{"a dataset of a private task", f.private.dataset, registrants},
		{"an entry to a private task", f.private.publicEntry, registrants},
		{"a run in a private task", f.private.runs["published"], registrants},
		{"an evaluation in a private task", f.private.evaluations["published"], registrants},
	}
	for _, p := range f.tasks() {
		all = append(all,
			secret{"a registration", p.registration, owners},
			secret{"a private entry", p.ownersEntry, owners},
			secret{"a run of a private entry", p.runs["unpublished"], owners},
			secret{"an unpublished evaluation", p.evaluations["unpublished"], owners},
			secret{"a blinded evaluation", p.evaluations["blinded"], organizers},
			secret{"an evaluation that was blinded again", p.evaluations["withdrawn"], organizers},
		)
	}
	return all
}

// ask is send as a caller, who must find no secret in the answer except what the request names itself.
func (f *fixture) ask(caller, method, path string, body any, headers ...string) answer {
	f.t.Helper()
	got := f.send(f.t, f.tokens[caller], method, path, body, headers...)
	for _, s := range f.secrets {
		if !bytes.Contains(got.body, []byte(s.text)) || strings.Contains(path, s.text) {
			continue
		}
		if f.found[s.text] = true; !slices.Contains(s.known, caller) {
			f.t.Errorf("%s %s as %s: the answer has %s (%s)\n%s", method, path, caller, s.what, s.text, got.body)
		}
	}
	return got
}

// readTruths has those who may read the truth read it. The address that they are given is itself the right to.
func (f *fixture) readTruths() {
	f.t.Helper()
	for _, caller := range []string{"organizer", "worker"} {
		var d struct{ Truths []struct{ URL string } }
		got := f.ask(caller, http.MethodGet, "/v1/datasets/"+f.public.dataset, nil)
		if err := json.Unmarshal(got.body, &d); err != nil || len(d.Truths) != 1 {
			f.t.Errorf("as %s: %v, and no truth in\n%s", caller, err, got.body)
			continue
		}
		if truth := f.send(f.t, "", http.MethodGet, d.Truths[0].URL, nil); !bytes.Contains(truth.body, []byte(truthLabel)) {
			f.t.Errorf("as %s: the truth is answered with %d\n%s", caller, truth.status, truth.body)
		}
		f.found[truthLabel] = true
	}
}

// checkAllFound requires that each secret was found by somebody who may: a secret that no answer has is kept from nobody.
func (f *fixture) checkAllFound() {
	f.t.Helper()
	for _, s := range f.secrets {
		if !f.found[s.text] {
			f.t.Errorf("no answer had %s (%s)", s.what, s.text)
		}
	}
}
