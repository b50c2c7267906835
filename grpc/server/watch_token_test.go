package server

import (
	"encoding/base64"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/record"
)

func TestParseToken_RefusesWhatTheServerDidNotSend(t *testing.T) {
	id, other := record.NewID(time.Now()), record.NewID(time.Now())
	p := position{version: 1 << 40, lines: [logCount]int64{7, 0}}
	token := p.token(id)
	if got, faults := parseToken(id, token); len(faults) > 0 || got != p {
		t.Fatalf("%+v, %v", got, faults)
	}
	bad := map[string]string{
		"empty": "", "words": "resume please", "cut": token[:len(token)-2], "longer": token + "AA", "of another run": p.token(other),
		"no version": position{}.token(id), "negative": position{version: -1}.token(id),
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-6] ^= 1
	bad["a changed bit"] = base64.RawURLEncoding.EncodeToString(raw)
	for name, token := range bad {
		if got, faults := parseToken(id, token); len(faults) != 1 || faults[0].Pointer != "/resume_token" {
			t.Errorf("%s: %+v, %v", name, got, faults)
		}
	}
	run := &record.RunItem{}
	run.Version, run.Logs.Execution.Lines = 3, 5
	for _, tt := range []struct {
		position
		valid bool
	}{
		{position{3, [logCount]int64{5, 0}}, true}, {position{4, [logCount]int64{}}, false}, {position{3, [logCount]int64{6, 0}}, false},
		{position{3, [logCount]int64{0, 1}}, false},
	} {
		if faults := tt.checkReached(run, access.Organizer); (len(faults) == 0) != tt.valid {
			t.Errorf("%+v: %v", tt.position, faults)
		}
	}
	if faults := (position{3, [logCount]int64{0, 99}}).checkReached(run, access.Owner); len(faults) > 0 {
		t.Errorf("the length of a log is revealed to a caller who may not read it: %v", faults)
	}
}

func FuzzResumeToken(f *testing.F) {
	id := record.NewID(time.Now())
	f.Add(position{version: 3, lines: [logCount]int64{5, 1}}.token(id))
	f.Add("")
	f.Fuzz(func(t *testing.T, token string) {
		p, faults := parseToken(id, token)
		if len(faults) == 0 && (p.token(id) != token || p.version < 1 || p.lines[0] < 0 || p.lines[1] < 0) {
			t.Errorf("%q is taken for %+v", token, p)
		}
	})
}
