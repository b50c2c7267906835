//go:build browser

package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_ShowsEveryMarkdown shows texts with character references, and texts that are deep or dense in marks, each within five
// seconds of processor time.
func TestConsole_ShowsEveryMarkdown(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	olga := s.token(t, "olga")
	p := s.open(t, "/console", browsertest.DeskLight)
	for name, tt := range map[string]struct{ source, shown string }{
		"references": {"Lakes &amp; rivers &copy; &#8211; *end*", "Lakes & rivers © – end"},
		"list":       {"1. one\n2. two\n\n- - nested\n\n- - -\n* * * * * * * * *\n\nend", "end"},
		"quotes":     {strings.Repeat(">", 65_000) + "end", ">end"},
		"lists":      {strings.Repeat("1. ", 20_000) + "end", "1. end"},
		"returns":    {"a\r" + strings.Repeat(">", 60_000) + "end", ">end"},
		"emphasis":   {strings.Repeat("*", 30_000) + "end" + strings.Repeat("*", 30_000), "end*"},
		"deletions":  {strings.Repeat("~~a", 20_000) + " end", "~~a end"},
		"notes":      {strings.Repeat("[^a]", 15_000) + " end", "[^a] end"},
	} {
		organizer := s.post(t, olga, "/v1/organizers", map[string]any{"name": "Lake Lab", "description": tt.source})
		p.Visit("/nothing")
		p.Sees("There is nothing here")
		began := p.ProcessorTime()
		p.Visit(strings.TrimPrefix(organizer, "/v1"))
		p.Await(`document.querySelector(".prose")?.matches(":not(.before)") === ` + strconv.FormatBool(len(tt.source) < 100))
		p.Await(`document.querySelector(".prose").innerText.includes(` + strconv.Quote(tt.shown) + `)`)
		if took := p.ProcessorTime() - began; took > 5*time.Second {
			t.Errorf("%s: shown after %s", name, took)
		}
	}
	p.Check(s.url + "/")
}

// TestConsole_KeepsTheFilesOfDatasetsApart checks that the file of each dataset has its own label, for names in every script.
func TestConsole_KeepsTheFilesOfDatasetsApart(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	olga := s.token(t, "olga")
	task := s.task(t, olga, "Lakes")
	for _, name := range []string{"湖", "海"} {
		s.dataset(t, olga, task, "1 0 a 1\n", map[string]any{"name": name})
	}
	p := s.signedIn(t, "olga", strings.TrimPrefix(task, "/v1")+"/submit?baseline=1")
	p.Sees("Run on 湖")
	if labels := browsertest.Evaluate[string](p.Page,
		`[...document.querySelectorAll("input[type=file]")].map(i => [...i.labels].map(l => l.textContent)).sort().join("; ")`,
	); labels != "Run on 海; Run on 湖" {
		t.Errorf("the fields for files have the labels %q", labels)
	}
}
