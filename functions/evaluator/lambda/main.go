// Command lambda is the function of the evaluator. The table's stream calls it for queued runs and pending work, the bucket for uploaded
// files, and one-time schedules, which it makes itself, when work is due. So an unused service runs and costs nothing.
package main

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"assay/functions/evaluator"
	"assay/shared/blob/s3"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/quota"
	"assay/shared/store/dynamo"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	slog.SetDefault(log)
	f, err := newFunction(log)
	if err != nil {
		log.Error("the function cannot start", "error", err)
		os.Exit(1)
	}
	lambda.Start(f.handle)
}

func newFunction(log *slog.Logger) (*function, error) {
	var env config.Environment
	quotas, err := quota.FromEnvironment()
	f := &function{
		worker: &evaluator.Worker{
			Store: quota.New(quotas).Count(dynamo.New(awsconfig.Table(&env)), time.Now), Files: s3.New(awsconfig.Bucket(&env)),
			Now: time.Now, Log: log,
			Holder: env.Require("AWS_LAMBDA_LOG_STREAM_NAME"),
		},
		schedules: newSchedules(&env),
	}
	return f, errors.Join(env.Err(), err)
}
