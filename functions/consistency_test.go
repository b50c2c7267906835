package functions_test

import (
	"context"
	"net/http"
	"testing"

	"assay/functions"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
)

// laggingStore is a store whose eventually consistent reads do not see any record yet.
type laggingStore struct{ store.Store }

func (s laggingStore) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if c == store.Strong {
		return s.Store.Get(ctx, c, keys...)
	}
	items := make([]store.Item, len(keys))
	for i, k := range keys {
		items[i].Key = k
	}
	return items, nil
}

func (s laggingStore) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if q.Index == store.Table && q.Consistency == store.Eventual {
		return nil, nil
	}
	return s.Store.Query(ctx, q)
}

// TestGet_SeesTheCallersOwnChanges: a caller sees the caller's own changes, however far replicas lag behind.
func TestGet_SeesTheCallersOwnChanges(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	task := s.Records().Task(recordtest.Private)
	dataset := task.Dataset()
	task.Register("ann")
	run := dataset.Run("ann")
	s.Store = laggingStore{s.Store}
	for _, path := range []string{task.Path(), dataset.Path(), "/v1/runs/" + run.ID, "/v1/runs/" + run.ID + "/review",
		task.Path() + "/submissions/" + run.SubmissionID} {
		s.Want(http.StatusOK, nil, "ann", http.MethodGet, path, nil)
	}
	public := s.Records().Task()
	s.Want(http.StatusNotFound, nil, "", http.MethodGet, public.Path(), nil) // eventually consistent, at half the price
}
