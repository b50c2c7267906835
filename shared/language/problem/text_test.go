package problem_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"assay/shared/language/problem"
)

func TestSentence_HasParts(t *testing.T) {
	closed := time.Date(2026, 11, 29, 13, 0, 0, 5e6, time.FixedZone("", 3600))
	for want, text := range map[string]problem.Text{
		`{"detail":"It is closed."}`:            problem.Sentence("It is closed."),
		`{"detail":"{a} is no {b}, 3 of 100%"}`: problem.Sentence("%s is no %s, %d of 100%%", "{a}", "{b}", 3),
		`{"detail":"It closed at 2026-11-29T12:00:00.005Z.","parts":[{"type":"text","value":"It closed at "},` +
			`{"type":"instant","value":"2026-11-29T12:00:00.005Z"},{"type":"text","value":"."}]}`: problem.Sentence("It closed at %s.", closed),
		`{"detail":"closesAt goes with /files/0 and filter[taskId].","parts":[{"type":"member","value":"closesAt"},` +
			`{"type":"text","value":" goes with "},{"type":"member","value":"/files/0"},{"type":"text","value":" and "},` +
			`{"type":"parameter","value":"filter[taskId]"},{"type":"text","value":"."}]}`: problem.Sentence(
			"{closesAt} goes with {/files/0} and {?filter[taskId]}."),
		`{"detail":"1 byte","parts":[{"type":"size","value":"1 byte","bytes":1}]}`: problem.Sentence("%s", problem.Size(1)),
		`{"detail":"a, B (b)","parts":[{"type":"resource","value":"a","resource":"run","id":"a"},{"type":"text","value":", "},` +
			`{"type":"resource","value":"B (b)","resource":"task","id":"b","name":"B"}]}`: problem.Sentence("%s",
			[]problem.Part{problem.Resource("run", "a"), problem.Resource("task", "b").Named("B")}),
		`{"detail":"Leave a out: \"a\" is of one.","parts":[{"type":"text","value":"Leave "},{"type":"member","value":"a"},` +
			`{"type":"text","value":" out: \""},{"type":"member","value":"a"},{"type":"text","value":"\" is of one."}]}`: problem.Sentence(
			"Leave %[1]s out: %[1]q is of %[2]s.", problem.Member("a"), problem.Sentence("one")),
	} {
		if got := encode(t, text); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	got, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestOperation_IsARequest(t *testing.T) {
	for want, part := range map[string]problem.Part{
		`{"type":"operation","value":"DELETE /v1/user/tokens/{tokenId}","operation":"deleteToken"}`: problem.DeleteToken.With(),
		`{"type":"operation","value":"DELETE /v1/organizers/a%2Fb/members/{userId}","operation":"deleteMember",` +
			`"parameters":{"organizerId":"a/b"}}`: problem.DeleteMember.With("a/b"),
		`{"type":"operation","value":"DELETE /v1/user?id=a+b","operation":"deleteCurrentUser","parameters":{"id":"a b"}}`: problem.
			DeleteCurrentUser.With().Query("id", "a b"),
		`{"type":"operation","value":"PATCH /v1/tasks/a/webhooks/b with {\"disabled\":false}","operation":"updateTaskWebhook",` +
			`"parameters":{"taskId":"a","webhookId":"b"},"body":"{\"disabled\":false}"}`: problem.UpdateTaskWebhook.With("a", "b").
			Setting("disabled", false),
	} {
		if got := encode(t, part); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestText_ChangesWithItsParts checks that the values of the parts always are the detail.
func TestText_ChangesWithItsParts(t *testing.T) {
	text := func() problem.Text { return problem.Sentence("The body lacks {name}; it has %s.", problem.Size(5)) }
	appended := text()
	appended.Append(problem.Sentence(" Give {name}."))
	long := strings.Repeat("x", 1000)
	for want, got := range map[string]problem.Text{
		"The body lacks name; it has 5 bytes. Give name.": appended,
		"The input lacks name; it has 5 bytes.":           text().Replace(strings.NewReplacer("The body", "The input", "name", "label")),
		long + ": name" + long[:18] + "…":                 problem.Conflict.New("%s: {name}%s", long, long).Text,
		long + ": " + long[:14] + "9007199 …":             problem.Conflict.New("%s: %s%s", long, long[:14], problem.Size(9007199)).Text,
	} {
		var values strings.Builder
		for _, p := range got.Parts {
			values.WriteString(p.Value)
		}
		if got.Detail != want || got.Parts != nil && values.String() != want {
			t.Errorf("got %q, %+v\nwant %q", got.Detail, got.Parts, want)
		}
	}
	if plain := text(); plain.Detail != "The body lacks name; it has 5 bytes." {
		t.Errorf("Append or Replace changed another text: %q", plain.Detail)
	}
}
