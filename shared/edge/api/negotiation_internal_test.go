package api

import (
	"context"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func TestMediaQuality_OfAccept(t *testing.T) {
	for _, c := range []struct {
		accept string
		json   float64
		csv    float64
	}{
		{"", 1, 1},
		{"*/*", 1, 1},
		{"text/csv", 0, 1},
		{"Application/JSON; charset=utf-8; q=0.4, text/*;q=0.5", 0.4, 0.5},
		{"*/*;q=0.1, text/csv", 0.1, 1},
		{"text/csv;q=0, */*", 1, 0},
		{"application/json;q=0", 0, 0},
		{"image/png, */*;q=0.1", 0.1, 0.1},
		{"text/csv;q=2, ;;=, q, application/json;q=NaN", 0, 0},
	} {
		json := mediaQuality(c.accept, "application/json")
		csv := mediaQuality(c.accept, "text/csv")
		if json != c.json || csv != c.csv {
			t.Errorf("%q wants JSON %v and CSV %v, want %v and %v", c.accept, json, csv, c.json, c.csv)
		}
	}
}

// While all encoders are in use, answers are sent without compression. An answer to a caller who accepts only gzip waits.
func TestEncode_WaitsLittleForAnEncoder(t *testing.T) {
	var taken []*gzip.Writer
	for range cap(encoders) {
		taken = append(taken, <-encoders)
	}
	a := answer{mediaType: mediaJSON, etag: `"1"`, body: []byte(strings.Repeat("x", minCoded))}
	if b, coded := a.encode(t.Context(), codings{gzip: true, identity: true}); coded || b.etag != a.etag || len(b.body) != len(a.body) {
		t.Errorf("%d bytes with the tag %s", len(b.body), b.etag)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, coded := a.encode(gone, codings{gzip: true}); coded {
		t.Error("there is an encoder too many")
	}
	waits := make(chan bool)
	go func() {
		_, coded := a.encode(t.Context(), codings{gzip: true})
		waits <- coded
	}()
	for _, w := range taken {
		encoders <- w
	}
	if !<-waits {
		t.Error("the answer is not coded")
	}
	if len(encoders) != cap(encoders) {
		t.Errorf("%d encoders are left of %d", len(encoders), cap(encoders))
	}
}
