package functions_test

import (
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"assay/functions"
	"assay/shared/api/servertest"
	"assay/shared/ratelimit"
	"assay/shared/record"
)

// TestSecurity_HasTheLimitsOfInfo compares the table of limits in SECURITY.md with what a server that sets none says of itself.
func TestSecurity_HasTheLimitsOfInfo(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	s.Quotas.Quotas, s.Rates = record.DefaultQuotas(), ratelimit.New(ratelimit.Default(), "")
	var info struct{ Limits map[string]any }
	s.Want(http.StatusOK, &info, "", http.MethodGet, "/info", nil)
	want := map[string]float64{}
	flatten("", info.Limits, want)

	content, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]float64{"": 1, " KiB": 1 << 10, " MiB": 1 << 20, " GiB": 1 << 30, " TiB": 1 << 40}
	got := map[string]float64{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Za-z.]+)` \\| ([0-9]+)( [KMGT]iB)? \\|").FindAllSubmatch(content, -1) {
		n, err := strconv.ParseFloat(string(row[2]), 64)
		if err != nil {
			t.Fatal(err)
		}
		got[string(row[1])] = n * units[string(row[3])]
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("SECURITY.md says %s is %.0f; it is %.0f", name, got[name], want[name])
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("SECURITY.md has the limit %s, which /info does not", name)
	}
}

// flatten collects the numbers of an object under their paths.
func flatten(prefix string, members map[string]any, into map[string]float64) {
	for name, v := range members {
		switch v := v.(type) {
		case map[string]any:
			flatten(prefix+name+".", v, into)
		case float64:
			into[prefix+name] = v
		}
	}
}
