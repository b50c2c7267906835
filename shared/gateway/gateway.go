// Package gateway is the way from an API Gateway HTTP API into the edge and back: it turns events of payload format 2.0 into
// requests for api.Server, so that a function answers what the one binary answers, byte for byte.
package gateway

import (
	"log/slog"
	"net/http"
	"os"
	"time"

	"assay/shared/api"
	"assay/shared/auth"
	"assay/shared/blob"
	"assay/shared/environment"
	"assay/shared/quota"
	"assay/shared/ratelimit"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/webpage/resource"

	"github.com/aws/aws-lambda-go/lambda"
)

// Start serves the operations as a function of Lambda, and does not return. Families that have nothing to do with files
// give nil for them.
func Start(operations []api.Operation, table store.Store, files blob.Store) {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	slog.SetDefault(log)
	a, err := open(operations, table, files, log)
	if err != nil {
		log.Error("the issuer cannot be trusted", "error", err)
		os.Exit(1)
	}
	lambda.Start(a.Handle)
}

// open does what comes before the first event. It asks nobody, and has the issuer asked in the background: a request with a
// token waits for that, and no other.
func open(operations []api.Operation, table store.Store, files blob.Store, log *slog.Logger) (*Adapter, error) {
	issuer := environment.Need(environment.IssuerVariable)
	verifier, err := auth.New(auth.Config{Issuer: issuer, Audience: environment.Need(environment.AudienceVariable), Client: &http.Client{}})
	if err != nil {
		return nil, err
	}
	verifier.Begin()
	ledger := quota.New(environment.Quotas())
	ledger.ResultTime = record.AbandonedAfter // by the rule of the bucket
	env := &api.Env{
		Store: ledger.Count(table, time.Now), Quotas: ledger, Files: files, Now: time.Now, Log: log, Verify: verifier.Caller, Origins: environment.Origins(),
		Info: api.BuildInfo(issuer), Rates: ratelimit.New(ratelimit.Distributed(), ""), Page: resource.Render,
	}
	return New(api.New(env, operations)), nil
}
