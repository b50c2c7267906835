package functions_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/problem"
)

// limited serves all families with low limits. Its clock stands still, so that no token is added.
func limited(t *testing.T, l ratelimit.Rates) *servertest.Server {
	s := servertest.New(t, functions.Operations()...)
	now := time.Now()
	s.Now = func() time.Time { return now }
	s.Rates = ratelimit.New(l, "X-Real-Ip")
	return s
}

// refused checks the answer to a caller who sends requests too often.
func refused(t *testing.T, a servertest.Answer, class string) {
	t.Helper()
	var d problem.Document
	if err := json.Unmarshal(a.Body, &d); err != nil || a.Status != http.StatusTooManyRequests || d.Type != problem.TooManyRequests.Type() {
		t.Fatalf("%d %s, %v", a.Status, a.Body, err)
	}
	if a.Header.Get("Retry-After") != "1" || !strings.HasPrefix(a.Header.Get("RateLimit"), `"`+class+`";r=0;t=`) ||
		a.Header.Get("RateLimit-Policy") == "" {
		t.Errorf("%v", a.Header)
	}
}

// TestRates_LimitEachCallerByClass lets one user use up a limit. Other users have their own limits, and reads have none. Requests
// are refused before their body is read.
func TestRates_LimitEachCallerByClass(t *testing.T) {
	s := limited(t, ratelimit.Rates{Write: ratelimit.Policy{PerSecond: 1, Burst: 3}, Tool: ratelimit.Policy{PerSecond: 1, Burst: 2}})
	lab := map[string]any{"name": "Lab"}
	at := s.Create("olga", "/v1/organizers", lab)
	s.Want(http.StatusOK, nil, "olga", http.MethodPatch, at, map[string]any{"name": "Lake"})
	if a := s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, "/v1/organizers",
		map[string]any{}); a.Header.Get("RateLimit") != `"write";r=0;t=3` {
		t.Errorf("a request that fails counts too: %v", a.Header)
	}
	refused(t, s.Do("olga", http.MethodDelete, at, nil), "write")
	refused(t, s.Do("olga", http.MethodPost, "/v1/organizers", strings.Repeat("x", 6<<20)), "write")
	s.Create("otto", "/v1/organizers", lab)
	for range 100 {
		if h := s.Want(http.StatusOK, nil, "olga", http.MethodGet, at, nil).Header; h.Get("RateLimit") != "" {
			t.Fatalf("a read is limited: %v", h)
		}
	}
	tool := map[string]any{"files": []any{}}
	for _, address := range []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"} {
		for range 2 {
			s.Want(http.StatusUnprocessableEntity, nil, "", http.MethodPost, "/v1/tools/validator", tool, "X-Real-Ip", address)
		}
		refused(t, s.Do("", http.MethodPost, "/v1/tools/validator", tool, "X-Real-Ip", address), "tool")
		refused(t, s.Do("", http.MethodGet, "/v1/tools/validator/result?input=1", nil, "X-Real-Ip", address), "tool")
	}
	refused(t, s.Do("", http.MethodPost, "/v1/tools/validator", tool, "X-Real-Ip", "2001:db8::2"), "tool")
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, "/v1/tools/validator", tool)
	const preview = "/v1/organizers?preview=true" // a preview computes and changes nothing, like a tool
	s.Want(http.StatusOK, nil, "olga", http.MethodPost, preview, lab)
	refused(t, s.Do("olga", http.MethodPost, preview, lab), "tool")
	refused(t, s.Do("olga", http.MethodPatch, at+"?preview=true", lab), "tool")
	var info struct {
		Limits struct{ Rates ratelimit.Rates }
	}
	s.Want(http.StatusOK, &info, "", http.MethodGet, "/info", nil)
	if info.Limits.Rates.Write.Burst != 3 {
		t.Errorf("/info has %+v", info)
	}
}

func TestRates_LimitUploadsByAddress(t *testing.T) {
	s := limited(t, ratelimit.Rates{Upload: ratelimit.Policy{PerSecond: 1, Burst: 1}})
	if a := s.Do("", http.MethodPut, "/files/nothing", "x"); a.Status == http.StatusTooManyRequests {
		t.Fatal("the first upload is refused")
	}
	refused(t, s.Do("", http.MethodPut, "/files/nothing", "x"), "upload")
	if a := s.Do("", http.MethodGet, "/files/nothing", nil); a.Status == http.StatusTooManyRequests {
		t.Error("a download is limited")
	}
	if a := s.Do("", http.MethodPut, "/files/nothing", "x", "X-Real-Ip", "192.0.2.9"); a.Status == http.StatusTooManyRequests {
		t.Error("another address is refused")
	}
}

// TestDocuments_HaveTheLimitsOfInfo compares the table of limits in local/operate.md with GET /info of a server with default
// settings.
func TestDocuments_HaveTheLimitsOfInfo(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	s.Quotas.Quotas = record.DefaultQuotas()
	s.Rates = ratelimit.New(ratelimit.Default(), "")
	var info struct{ Limits map[string]any }
	s.Want(http.StatusOK, &info, "", http.MethodGet, "/info", nil)
	want := map[string]float64{}
	flatten("", info.Limits, want)

	content, err := os.ReadFile("../local/operate.md")
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
			t.Errorf("local/operate.md says %s is %.0f; it is %.0f", name, got[name], want[name])
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("local/operate.md has the limit %s, which /info does not", name)
	}
}

// flatten collects the numbers of an object by their paths.
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
