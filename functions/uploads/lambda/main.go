// Command lambda is the AWS Lambda function that S3 notifies of uploaded files. It is separate from the function background, where
// notifications would wait for a backlog of evaluations, and runs would be queued late.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/awsconfig"
	"assay/shared/edge/gateway/schedule"
	"assay/shared/service/config"
	"assay/shared/service/files"
	"assay/shared/service/quota"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo"

	"github.com/aws/aws-lambda-go/events"
)

func main() { os.Exit(schedule.Serve(open)) }

func open(*slog.Logger) (handler any, err error) {
	var env config.Environment
	quotas, err := quota.FromEnvironment()
	f := function{
		store: quota.New(quotas, dynamo.New(awsconfig.Table(&env)), time.Now).Store(), now: time.Now, schedules: schedule.New(&env),
	}
	return f.handle, errors.Join(env.Err(), err)
}

type function struct {
	store     store.Store
	now       func() time.Time
	schedules *schedule.Schedules
}

const day = 24 * time.Hour

// handle completes the uploads that S3 notifies of. For each file it schedules a deletion of abandoned files on the day after which the
// file would be abandoned.
func (f function) handle(ctx context.Context, e events.S3Event) error {
	if len(e.Records) == 0 {
		return errors.New("an event without records")
	}
	var failed error
	for _, r := range e.Records {
		if r.EventSource != "aws:s3" {
			return fmt.Errorf("events from %q are unknown", r.EventSource)
		}
		key, err := url.QueryUnescape(r.S3.Object.Key)
		if err != nil {
			return fmt.Errorf("the key of a record of S3: %w", err)
		}
		err = files.Uploads{Store: f.store, Now: f.now}.Complete(ctx, key)
		if errors.Is(err, blob.ErrNotFound) {
			err = nil // No record waits for the file.
		}
		failed = errors.Join(failed, err,
			f.schedules.Set(ctx, f.now().Add(record.AbandonedAfter).Truncate(day).Add(day), schedule.Event{Wake: schedule.WakeClean}))
	}
	return failed
}
