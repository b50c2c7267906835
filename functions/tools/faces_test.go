package tools_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// maxPage is how many bytes a page may have.
const maxPage = 200_000

// hostileNames try to be more than text.
var hostileNames = []string{
	`<script>window.intruded = 1</script>`,
	`"><img src=x onerror="window.intruded=1" data-intruder>`,
	`</title></style></svg><b data-intruder>`,
	`' onmouseover='window.intruded=1' data-intruder='`,
	"\u202Egnol dna " + strings.Repeat("unbroken", 20),
	"]]><!-- & &amp; %00",
}

var (
	element = regexp.MustCompile(`<[a-zA-Z/!][^>]*>`)
	outside = regexp.MustCompile(`(?i)^<(img|iframe|object|embed|link rel="stylesheet"|script)|^<[bi]\s|\son[a-z]+="|\sstyle="`)
)

// checkFaces holds the page and the chart of an answer to what each of them must be: small, whole, and without anything
// that a name brought along.
func (s *stage) checkFaces(tool string, input any) {
	s.t.Helper()
	page := s.tool(http.StatusOK, nil, "", tool, input, "Accept", "text/html").Body
	s.t.Logf("the page has %d bytes", len(page))
	if len(page) > maxPage {
		s.t.Errorf("the page of %s has %d bytes, more than %d", tool, len(page), maxPage)
	}
	for _, tag := range element.FindAllString(string(page), -1) {
		if outside.MatchString(tag) {
			s.t.Errorf("the page of %s has %s", tool, tag)
		}
	}
	document := s.tool(http.StatusOK, nil, "", tool, input, "Accept", "image/svg+xml").Body
	checkSVG(s.t, document)
}

// checkSVG reads a document as XML, and has it run and fetch nothing.
func checkSVG(t testing.TB, document []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(document)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the chart is no XML: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "script", "image", "a", "foreignObject", "b", "img":
				t.Errorf("the chart has an element %s", e.Name.Local)
			}
		}
	}
}
