// Command lambda is the function of the evaluator. The table's stream tells it of runs that wait and of instants at which
// something is due, the bucket of files that have arrived; one-time schedules, which it makes itself, wake it when an
// instant comes. So nothing runs, and nothing costs, while nobody uses the service.
package main

import (
	"log/slog"
	"os"
	"time"

	"assay/functions/evaluator"
	"assay/shared/blob/s3"
	"assay/shared/environment"
	"assay/shared/quota"
	"assay/shared/store/dynamo"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	slog.SetDefault(log)
	f := &function{
		worker: &evaluator.Worker{
			Store: quota.New(environment.Quotas()).Count(dynamo.New(environment.Table()), time.Now), Files: s3.New(environment.Bucket()), Now: time.Now, Log: log,
			Holder: environment.Need("AWS_LAMBDA_LOG_STREAM_NAME"),
		},
		alarms: newSchedules(),
	}
	lambda.Start(f.handle)
}
