package evaluations_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"assay/functions/evaluations"
	"assay/shared/api"
	"assay/shared/blob"
	"assay/shared/record"
)

// blocked is an object store whose readers wait until enter is closed.
type blocked struct {
	blob.Store
	reading atomic.Int64
	enter   chan struct{}
}

func (b *blocked) Open(context.Context, string) (io.ReadCloser, error) {
	b.reading.Add(1)
	<-b.enter
	return io.NopCloser(strings.NewReader(`{"q1":{"AP":0.25}}`)), nil
}

// Values per topic in the object store are as large as a list, so a user reads at most four of them at once.
func TestShow_SharesTheMemoryBudgetOfLists(t *testing.T) {
	s := serve(t)
	e := s.add(result{user: "ada", value: 0.3})
	s.builder.Replace(&record.Topics{Meta: e.Meta, ObjectKey: "topics"})
	synctest.Test(t, func(t *testing.T) {
		env := *s.Env
		files := &blocked{Store: env.Files, enter: make(chan struct{})}
		env.Files = files
		handler := api.New(&env, evaluations.Operations)
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/evaluations/"+e.ID, nil)
				r.Header.Set("Authorization", "Bearer ada")
				w := httptest.NewRecorder()
				if handler.ServeHTTP(w, r); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"q1"`) {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		}
		synctest.Wait()
		if n := files.reading.Load(); n != 4 {
			t.Errorf("%d are read at once", n)
		}
		close(files.enter)
		all.Wait()
	})
}
