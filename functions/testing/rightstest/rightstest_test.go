package rightstest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assay/functions"
	"assay/functions/testing/rightstest"
	"assay/shared/domain/record"
)

// TestGuard_MissingKey reads a missing key as every deployment. Deployments without the right to list the bucket get 403, like
// from S3. The gRPC server and the evaluator read files that may not have arrived yet, so they must be able to distinguish a
// missing file.
func TestGuard_MissingKey(t *testing.T) {
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	t.Cleanup(empty.Close)
	learns := map[string]bool{functions.GRPC().Name: true, functions.Background: true}
	for _, d := range append(functions.Deployments(), functions.GRPC()) {
		_, endpoint := rightstest.Guard(t, d, empty.URL, empty.URL)
		for _, f := range d.Files {
			if !f.Get {
				continue
			}
			want := http.StatusForbidden
			if learns[d.Name] {
				want = http.StatusNotFound
			}
			key := record.ObjectKey(f.Holder, "01JZ3V7Q0D8T5RZ0S6R1W9C4XK", strings.Repeat("0", 64))
			r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, endpoint+"/bucket/"+key, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s looks at a missing file of %s and is answered %d, want %d", d.Name, f.Holder, resp.StatusCode, want)
			}
		}
	}
}
