package main

import (
	"testing"
)

// TestFlags_ThatContradictEachOtherAreRefused: neither of two flags wins.
func TestFlags_ThatContradictEachOtherAreRefused(t *testing.T) {
	p := &person{t: t, folder: t.TempDir(), home: t.TempDir()}
	for _, args := range [][]string{{"review", "Lakes", "--publish", "--unpublish"}, {"review", "Lakes", "--blind", "--unblind"},
		{"submit", "Lakes", "--image", "a/b", "--repository", "https://example.org/a"}, {"login", "--with-token", "--device"}} {
		p.says(failed, []string{"does not go with --", "with only one of both"}, args...)
	}
	p.says(failed, []string{"assay apply needs FILE"}, "apply")
}

// TestLists_SayOnlyWhatTheCallerMayKnow: an empty list of registrations is no statement about other teams. Tasks say when they take
// registrations.
func TestLists_SayOnlyWhatTheCallerMayKnow(t *testing.T) {
	s := serve(t, "embedded")
	olga, tom := s.person("olga"), s.person("tom")
	olga.want(done, "apply", olga.write("a.yaml", "organizer: Lab\ntask: {name: Lakes, registration: {opensAt: 2099-01-01T00:00:30Z}}\n"))
	olga.want(done, "apply", olga.write("b.yaml", "organizer: Lab\ntask: {name: Ponds, registration: {closesAt: 2001-01-01T00:00:00Z}}\n"))
	olga.want(done, "apply", olga.write("c.yaml",
		"organizer: Lab\ntask: {name: Seas, registration: {mode: approval, closesAt: 2099-01-01T00:00:00Z}}\n"))
	tom.says(done, []string{"open from 2099-01-01 ", "closed since 2001-01-01 ", "by approval until 2099-01-01 "}, "tasks")
	tom.says(done, []string{"You have no team in Lakes. Only the organizers see the other teams."}, "registrations", "Lakes")
	olga.says(done, []string{"No team is registered."}, "registrations", "Lakes")
}
