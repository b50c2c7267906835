package tools_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"assay/shared/computation/measure/measuretest"
	"assay/shared/domain/record"
)

// Every tool answers its own example, by POST and by GET, in every media type that it lists.
func TestTools_ComputeTheirExamples(t *testing.T) {
	s := newToolServer(t, record.Public)
	s.dataset.Meta = record.NewMeta(s.Now())
	s.dataset.ID = "01JZ3V7Q0D8T5RZ0S6R1W9C4XK" // the id in the example of the tool leaderboard
	s.Records().Put(s.dataset.DatasetItem)
	s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.1, .2, .3)})
	var list struct {
		Data []struct {
			Name, URL  string
			MediaTypes []string
			Example    any
		}
	}
	s.Want(http.StatusOK, &list, "", http.MethodGet, "/v1/tools", nil)
	missing := s.Want(http.StatusNotFound, nil, "", http.MethodPost, "/v1/tools/nosuch", nil)
	for _, tool := range list.Data {
		if !strings.Contains(string(missing.Body), tool.Name) {
			t.Errorf("who asks for a tool that is not there does not hear of %s: %s", tool.Name, missing.Body)
		}
		for _, media := range tool.MediaTypes {
			if to := map[string]string{"text/csv": "csv", "text/tab-separated-values": "beir"}[media]; to != "" {
				tool.Example.(object)["to"] = to
			}
			a := s.Want(http.StatusOK, nil, "", http.MethodPost, tool.URL, tool.Example, "Accept", media)
			address := a.Header.Get("Content-Location")
			if address == "" {
				t.Errorf("%s as %s has no address", tool.Name, media)
				continue
			}
			again := s.Want(http.StatusOK, nil, "", http.MethodGet, address, nil, "Accept", media)
			if !bytes.Equal(a.Body, again.Body) || a.Header.Get("ETag") != again.Header.Get("ETag") {
				t.Errorf("%s as %s answers GET with another answer:\n%s\n%s", tool.Name, media, a.Body, again.Body)
			}
			s.Want(http.StatusNotModified, nil, "", http.MethodGet, address, nil, "Accept", media, "If-None-Match", a.Header.Get("ETag"))
		}
	}
}

// injections are texts that try to become markup or script. They have no spaces, so that ids can contain them.
var injections = []string{
	`<script>window.intruded=1</script>`,
	`"><img/src=x/onerror="window.intruded=1"data-intruder>`,
	`</style></title></script></svg><b/data-intruder>`,
	`'onmouseover='window.intruded=1'data-intruder='`,
	"javascript:window.intruded=1",
	"\u202Egnol-dna-" + strings.Repeat("unbroken", 20),
	"]]><!--&&amp;%00",
}

// injectionInput puts the injections into all texts of users that a page shows: two runs with their topics, documents and texts.
func injectionInput(t testing.TB) (runs []object, texts object) {
	var lines [2]strings.Builder
	var documents, queries strings.Builder
	write := func(b *strings.Builder, o object) {
		line, _ := json.Marshal(o) // strings are always valid
		b.WriteString(string(line) + "\n")
	}
	for i, topic := range injections {
		write(&queries, object{"id": topic, "query": topic + " water"})
		write(&documents, object{"id": topic, "title": topic, "text": topic + " water " + topic})
		for j := range injections {
			document := injections[(i+j)%len(injections)]
			for run := range lines {
				lines[run].WriteString(topic + " Q0 " + document + " 0 " + string(rune('9'-j*(1-run))) + " x\n")
			}
		}
	}
	for run, name := range []string{injections[0], injections[2]} { // packed, so that the input is short enough for an address
		runs = append(runs, namedRun(name, measuretest.Gzip(t, lines[run].String())))
	}
	return runs, inlineFiles("documents.jsonl", measuretest.Gzip(t, documents.String()), "queries.jsonl",
		measuretest.Gzip(t, queries.String()))
}

var (
	element = regexp.MustCompile(`<[a-zA-Z/!][^>]*>`)
	// inHead and inBody match markup that would load, run or style something. Pages have no such markup, except for their own
	// icon and style in the head.
	inHead = regexp.MustCompile(`(?i)^<(img|iframe|object|embed|link rel="stylesheet"|script)|^<[bi][\s/]|[\s"'/]on[a-z]+=|\sstyle="`)
	inBody = regexp.MustCompile(`(?i)<(script|img|iframe|object|embed|b/)|@import|url\([^#]|[\s"'/]on[a-z]+="|style="|href="[^#/]`)
)

// findInjection returns a part of the page that an injection caused.
func findInjection(page string) string {
	for _, tag := range element.FindAllString(page, -1) {
		if inHead.MatchString(tag) {
			return tag
		}
	}
	_, body, _ := strings.Cut(page, "</head>")
	body = strings.ReplaceAll(body, `href="http://127.0.0.1:`, `href="/`) // to the server itself
	return inBody.FindString(body)
}

// maxPage is the largest size of a page in bytes.
const maxPage = 200_000

// checkPage checks that a page is small and that no injection had an effect.
func (s *toolServer) checkPage(tool string, input object) string {
	s.t.Helper()
	page := s.page("", tool, input)
	s.t.Logf("the page has %d bytes", len(page))
	if len(page) > maxPage {
		s.t.Errorf("the page of %s has %d bytes, more than %d", tool, len(page), maxPage)
	}
	if found := findInjection(page); found != "" {
		s.t.Errorf("the page of %s has %s", tool, found)
	}
	return page
}
