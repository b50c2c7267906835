package dynamo_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"assay/shared/store"
	"assay/shared/store/dynamo"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// TestRetry_AnswerThatBreaksOff has a connection end in the middle of an answer, after which the call is sent again.
func TestRetry_AnswerThatBreaksOff(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if calls.Add(1) > 1 {
			_, _ = w.Write([]byte("{}"))
			return
		}
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"Items":[`))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	s := dynamo.New(aws.Config{
		Region: "eu-central-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	}, "assay")
	items, err := s.Query(t.Context(), store.Query{Partition: "TASK#1", Limit: 1})
	if err != nil || len(items) > 0 || calls.Load() != 2 {
		t.Errorf("%v, %v after %d calls, want none after 2", items, err, calls.Load())
	}
}
