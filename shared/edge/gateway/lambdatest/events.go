package lambdatest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// pollInterval is the pause between reads of the stream. Lambda reads a stream four times a second.
const pollInterval = 50 * time.Millisecond

// Stream passes the changes of a table to a function like an event source mapping of Lambda. It passes the records that the filter
// accepts, in order for each shard. If the function reports a failed record, the stream repeats that record and the later ones, up to
// maxTries.
type Stream struct {
	t        testing.TB
	client   *dynamodbstreams.Client
	function *Function
	filter   func(newImage map[string]events.DynamoDBAttributeValue) bool
	// DeadLetters gets the records that failed maxTries times.
	DeadLetters chan events.DynamoDBEventRecord
}

const (
	maxTries  = 3
	batchSize = 10
)

// MapEventSource passes the changes of the table to the function until the test ends.
func MapEventSource(t testing.TB, cfg aws.Config, table string, function *Function,
	keep func(map[string]events.DynamoDBAttributeValue) bool) *Stream {
	t.Helper()
	s := &Stream{t: t, client: dynamodbstreams.NewFromConfig(cfg), function: function, filter: keep,
		DeadLetters: make(chan events.DynamoDBEventRecord, 100)}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(ctx, table)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return s
}

func (s *Stream) run(ctx context.Context, table string) {
	iterators := map[string]*string{} // by shard
	var arn *string
	for ; ctx.Err() == nil; time.Sleep(pollInterval) {
		if arn == nil {
			streams, err := s.client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: &table})
			if err != nil || len(streams.Streams) == 0 {
				s.logError(ctx, err)
				continue
			}
			arn = streams.Streams[0].StreamArn
		}
		d, err := s.client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
		if err != nil {
			s.logError(ctx, err)
			continue
		}
		for _, shard := range d.StreamDescription.Shards {
			id := aws.ToString(shard.ShardId)
			if _, ok := iterators[id]; !ok {
				it, err := s.client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
					StreamArn: arn, ShardId: shard.ShardId, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
				})
				if err != nil {
					s.logError(ctx, err)
					continue
				}
				iterators[id] = it.ShardIterator
			}
			iterators[id] = s.read(ctx, iterators[id])
		}
	}
}

func (s *Stream) logError(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		s.t.Logf("the stream: %v", err)
	}
}

// read delivers the records at the iterator, and returns the next iterator.
func (s *Stream) read(ctx context.Context, iterator *string) *string {
	if iterator == nil {
		return nil // the shard has ended
	}
	out, err := s.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
	if err != nil {
		s.logError(ctx, err)
		return iterator
	}
	var batch []events.DynamoDBEventRecord
	for i := range out.Records {
		r, err := record(&out.Records[i])
		if err != nil {
			s.t.Errorf("a record of the stream: %v", err)
			continue
		}
		if s.filter(r.Change.NewImage) {
			batch = append(batch, r)
		}
	}
	for chunk := range slices.Chunk(batch, batchSize) {
		s.deliver(ctx, chunk)
	}
	return out.NextShardIterator
}

// deliver repeats a batch until every record has succeeded or is a dead letter.
func (s *Stream) deliver(ctx context.Context, batch []events.DynamoDBEventRecord) {
	for tries := 1; len(batch) > 0 && ctx.Err() == nil; tries++ {
		failed, err := s.invoke(ctx, batch)
		if err != nil {
			s.logError(ctx, err)
			failed = 0
		}
		if failed < 0 {
			return
		}
		batch = batch[failed:]
		if tries == maxTries {
			s.DeadLetters <- batch[0]
			batch, tries = batch[1:], 0
		}
	}
}

// invoke returns the position of the first record that failed, or -1.
func (s *Stream) invoke(ctx context.Context, batch []events.DynamoDBEventRecord) (int, error) {
	payload, err := json.Marshal(events.DynamoDBEvent{Records: batch})
	if err != nil {
		return 0, err
	}
	answer, err := s.function.Invoke(ctx, payload)
	if err != nil {
		return 0, err
	}
	var out events.DynamoDBEventResponse
	if err := json.Unmarshal(answer, &out); err != nil {
		return 0, err
	}
	first := slices.IndexFunc(batch, func(r events.DynamoDBEventRecord) bool {
		return slices.Contains(out.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: r.Change.SequenceNumber})
	})
	if first < 0 && len(out.BatchItemFailures) > 0 {
		return 0, errors.New("a failure was reported that was not in the batch")
	}
	return first, nil
}

// record converts a record of the stream to its form in events.
func record(in *types.Record) (events.DynamoDBEventRecord, error) {
	out := events.DynamoDBEventRecord{
		EventID: aws.ToString(in.EventID), EventName: string(in.EventName), EventSource: "aws:dynamodb", AWSRegion: "us-east-1",
		Change: events.DynamoDBStreamRecord{SequenceNumber: aws.ToString(in.Dynamodb.SequenceNumber),
			StreamViewType: string(in.Dynamodb.StreamViewType)},
	}
	var err error
	if out.Change.Keys, err = attributes(in.Dynamodb.Keys); err != nil {
		return out, err
	}
	out.Change.NewImage, err = attributes(in.Dynamodb.NewImage)
	return out, err
}

func attributes(in map[string]types.AttributeValue) (map[string]events.DynamoDBAttributeValue, error) {
	if in == nil {
		return nil, nil
	}
	out := map[string]events.DynamoDBAttributeValue{}
	for name, v := range in {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			out[name] = events.NewStringAttribute(v.Value)
		case *types.AttributeValueMemberN:
			out[name] = events.NewNumberAttribute(v.Value)
		case *types.AttributeValueMemberB:
			out[name] = events.NewBinaryAttribute(v.Value)
		default:
			return nil, errors.New("an attribute " + name + " of a kind that no item has")
		}
	}
	return out, nil
}

// Scheduler emulates EventBridge Scheduler. It stores one-time schedules and calls the function at their time.
type Scheduler struct {
	URL string

	t       testing.TB
	targets map[string]*Function
	mu      sync.Mutex
	created map[string]time.Time
	running sync.WaitGroup
	stop    context.CancelFunc
	ctx     context.Context //nolint:containedctx // schedules outlive the requests that created them
}

// NewScheduler returns an endpoint of the service. Call Target before using it.
func NewScheduler(t testing.TB) *Scheduler {
	s := &Scheduler{t: t, created: map[string]time.Time{}, targets: map[string]*Function{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(s.create))
	s.URL = server.URL
	t.Cleanup(func() {
		s.stop()
		s.running.Wait()
		server.Close()
	})
	return s
}

// Target registers the function that schedules with the ARN call.
func (s *Scheduler) Target(arn string, f *Function) { s.targets[arn] = f }

// Created returns the names and times of the schedules that were created.
func (s *Scheduler) Created() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.created)
}

func (s *Scheduler) create(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, "/schedules/")
	var in struct {
		GroupName, ScheduleExpression, ActionAfterCompletion string
		FlexibleTimeWindow                                   struct{ Mode string }
		Target                                               struct{ Arn, RoleArn, Input string }
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	at, timeErr := time.Parse("at(2006-01-02T15:04:05)", in.ScheduleExpression)
	if !ok || r.Method != http.MethodPost || err != nil || timeErr != nil || in.GroupName == "" || in.ActionAfterCompletion != "DELETE" ||
		in.FlexibleTimeWindow.Mode != "OFF" || s.targets[in.Target.Arn] == nil || in.Target.RoleArn == "" || !at.After(time.Now()) ||
		!strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") {
		s.t.Errorf("a schedule that the service would refuse: %s %s %+v, %v, %v", r.Method, r.URL, in, err, timeErr)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	_, there := s.created[name]
	s.created[name] = at
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if there {
		w.Header().Set("X-Amzn-ErrorType", "ConflictException")
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"Message":"it is there"}`))
		return
	}
	s.running.Go(func() { s.wait(at, s.targets[in.Target.Arn], in.Target.Input) })
	_, _ = io.WriteString(w, `{"ScheduleArn":"arn:aws:scheduler:us-east-1:000000000000:schedule/group/name"}`)
}

// wait calls the function at the given time.
func (s *Scheduler) wait(at time.Time, target *Function, input string) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		if _, err := target.Invoke(s.ctx, []byte(input)); err != nil && s.ctx.Err() == nil {
			s.t.Errorf("a schedule's call failed: %v", err)
		}
	case <-s.ctx.Done():
	}
}
