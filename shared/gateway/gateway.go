// Package gateway is the way from an API Gateway HTTP API into the edge and back: it turns events of payload format 2.0 into
// requests for api.Server, so that a function answers what the one binary answers, byte for byte.
//
// aws-lambda-go-api-proxy makes the request of an event and the event's answer of what the handler writes: bodies in base64,
// cookies, headers that came twice. What it changes on the way is put back here: paths with their escapes and without the stage,
// headers as they were sent, and problems in place of its errors.
package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"assay/shared/api"
	"assay/shared/auth"
	"assay/shared/blob"
	"assay/shared/config"
	"assay/shared/quota"
	"assay/shared/ratelimit"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/webpage/resource"

	"github.com/aws/aws-lambda-go/lambda"
)

// Serve serves the operations as a function of Lambda. It returns only when it cannot begin, with what the environment lacks.
// Families that have nothing to do with files give nil for them.
func Serve(env *config.Environment, operations []api.Operation, table store.Store, files blob.Store) error {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	slog.SetDefault(log)
	a, err := open(env, operations, table, files, log)
	if err != nil {
		return err
	}
	lambda.Start(a.Handle)
	return nil
}

// open does what comes before the first event. It asks nobody, and has the issuer asked in the background: a request with a
// token waits for that, and no other.
func open(settings *config.Environment, operations []api.Operation, table store.Store, files blob.Store,
	log *slog.Logger) (*Adapter, error) {
	issuer, audience := settings.Require(config.IssuerVariable), settings.Require(config.AudienceVariable)
	quotas, err := quota.FromEnvironment()
	if err := errors.Join(settings.Err(), err); err != nil {
		return nil, err
	}
	verifier, err := auth.New(auth.Config{Issuer: issuer, Audience: audience, Client: &http.Client{}})
	if err != nil {
		return nil, fmt.Errorf("the issuer cannot be trusted: %w", err)
	}
	verifier.Begin()
	ledger := quota.New(quotas)
	ledger.ResultTime = record.AbandonedAfter // by the rule of the bucket
	env := &api.Env{
		Store: ledger.Count(table, time.Now), Quotas: ledger, Files: files, Now: time.Now, Log: log, Verify: verifier.Caller,
		Origins: config.Origins(),
		Info:    api.BuildInfo(issuer), Rates: ratelimit.New(ratelimit.Distributed(), ""), RenderHTML: resource.Render,
	}
	return New(api.New(env, operations)), nil
}
