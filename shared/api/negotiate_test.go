package api

import "testing"

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
		if json, csv := mediaQuality(c.accept, "application/json"), mediaQuality(c.accept, "text/csv"); json != c.json || csv != c.csv {
			t.Errorf("%q wants JSON %v and CSV %v, want %v and %v", c.accept, json, csv, c.json, c.csv)
		}
	}
}
