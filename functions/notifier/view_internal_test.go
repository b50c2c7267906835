package notifier

import (
	"log/slog"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// TestNews_KnowsAllKinds checks that the notifier has a sentence for each kind of event. An e-mail with an event without one would never be
// sent. The resources of these events do not exist, so their news is empty.
func TestNews_KnowsAllKinds(t *testing.T) {
	now := time.Now()
	w := New(recordtest.OpenStore(t, embedded.Options{}), time.Now, slog.New(slog.DiscardHandler))
	v := view{w, &visibility.Viewer{Store: w.Store, Caller: access.Caller{ID: record.NewID(now)}, Consistency: store.Strong}}
	for _, kind := range record.EventKinds {
		id := record.NewID(now)
		e := record.NewEvent(now, kind, access.Scope{OrganizerID: id, TaskID: id, RegistrationID: id}, "/v1/resources/"+id)
		if n, err := v.news(t.Context(), e); err != nil || n.Text != "" {
			t.Errorf("%s: %+v, %v", kind, n, err)
		}
	}
}
