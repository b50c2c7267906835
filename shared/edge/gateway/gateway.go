// Package gateway connects API Gateway HTTP APIs to api.Server. It converts events of payload format 2.0 to requests and responses to
// events, so that a function answers byte for byte like the server binary.
//
// aws-lambda-go-api-proxy does most of the conversion: base64 bodies, cookies and repeated headers. This package corrects the rest. It
// restores escapes of paths, removes the stage from them, restores the sent headers, and answers errors of the proxy with problems.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/auth"
	"assay/shared/edge/awsconfig"
	"assay/shared/edge/ratelimit"
	"assay/shared/edge/webpage/resource"
	"assay/shared/language/metrics"
	"assay/shared/language/panics"
	"assay/shared/language/problem"
	"assay/shared/service/config"
	"assay/shared/service/files"
	"assay/shared/service/quota"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
)

// Serve runs the operations of a family without files as a Lambda function. The environment names the table. Serve returns only if the
// function cannot start; it logs the reason and returns the exit status.
func Serve(operations []api.Operation) (status int) {
	var env config.Environment
	return serve(&env, operations, nil)
}

// ServeWithFiles is like Serve, for a family with files in the bucket that the driver opens. The driver is a parameter so that functions
// without files do not link it.
func ServeWithFiles[B blob.Store](operations []api.Operation, bucket awsconfig.Driver[B]) (status int) {
	var env config.Environment
	return serve(&env, operations, bucket(awsconfig.Bucket(&env)))
}

func serve(env *config.Environment, operations []api.Operation, objects blob.Store) (status int) {
	log := slog.New(requestIDs{slog.NewJSONHandler(os.Stdout, nil)})
	slog.SetDefault(log)
	a, err := open(env, operations, dynamo.New(awsconfig.Table(env)), objects, log)
	if err != nil {
		log.Error("the function cannot start", "error", err)
		return 1
	}
	lambda.Start(a.Handle)
	return 0
}

// open prepares the function before its first event. It sends no request itself, and fetches the keys of the issuer in the background.
// Only requests with a token wait for the keys.
func open(settings *config.Environment, operations []api.Operation, table store.Store, objects blob.Store,
	log *slog.Logger) (*Adapter, error) {
	issuer := settings.Require(config.IssuerVariable)
	audience := settings.Require(config.AudienceVariable)
	quotas, err := quota.FromEnvironment()
	if err := errors.Join(settings.Err(), err); err != nil {
		return nil, err
	}
	verifier, err := auth.New(auth.Config{Issuer: issuer, Audience: audience,
		VerifiesEmail: os.Getenv(config.IssuerVerifiesEmailVariable) == "true"})
	if err != nil {
		return nil, fmt.Errorf("the issuer cannot be trusted: %w", err)
	}
	verifier.Begin()
	ledger := quota.New(quotas, table, time.Now)
	ledger.ResultTime = record.AbandonedAfter // the bucket's lifecycle rule deletes results then
	rates := ratelimit.New(ratelimit.Distributed(), "")
	recorder := metrics.CloudWatch(log, os.Getenv(config.TableVariable), time.Now)
	env := &api.Env{
		Store: ledger.Store(), Quotas: ledger, Files: files.Observed{Store: objects, Metrics: recorder}, Now: time.Now, Log: log,
		Verify: auth.NewAuthenticator(verifier.Caller, table, time.Now, rates).Caller, Origins: config.Origins(),
		Info: api.BuildInfo(issuer), Endpoints: verifier.Endpoints, Rates: rates,
		RenderHTML: resource.Render,
		Metrics:    recorder,
	}
	env.Info.ClientID = os.Getenv(config.ClientIDVariable)
	env.Info.Mail = os.Getenv(config.MailFromVariable) != ""
	env.Info.FilesOrigin = os.Getenv(config.FilesOriginVariable)
	return New(api.New(env, operations)), nil
}

// maxAnswer is the greatest length of a Lambda response. The response is JSON: it contains a JSON body as an escaped string, and a
// compressed body in base64, which is a third longer.
const maxAnswer = 6 << 20

// answerMargin is the time between the end of a request's context and Lambda's timeout. In that time the function answers with a
// problem. After the timeout, API Gateway would answer with an error of its own.
const answerMargin = 500 * time.Millisecond

// Adapter serves API Gateway events with an http.Handler.
type Adapter struct{ proxy *httpadapter.HandlerAdapterV2 }

// New returns an adapter to the handler.
func New(h http.Handler) *Adapter {
	return &Adapter{httpadapter.NewV2(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := r.Context().Value(invocationKey{}).(*invocation)
		c.read = true
		restoreHeaders(r, c.event)
		h.ServeHTTP(w, r)
	}))}
}

// invocation is the state of one event.
type invocation struct {
	event *events.APIGatewayV2HTTPRequest
	read  bool // the event was converted to a request
}

type invocationKey struct{}

// requestIDs adds the request ids of API Gateway and Lambda to each log line about a request. So one line connects the answer's
// X-Request-Id with the access log and with the lines of Lambda.
type requestIDs struct{ slog.Handler }

// Handle implements slog.Handler.
func (h requestIDs) Handle(ctx context.Context, r slog.Record) error {
	if c, ok := ctx.Value(invocationKey{}).(*invocation); ok {
		r.AddAttrs(slog.String("gatewayRequestId", c.event.RequestContext.RequestID))
	}
	if l, ok := lambdacontext.FromContext(ctx); ok {
		r.AddAttrs(slog.String("functionRequestId", l.AwsRequestID))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h requestIDs) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestIDs{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h requestIDs) WithGroup(name string) slog.Handler { return requestIDs{h.Handler.WithGroup(name)} }

// Handle answers one event. It never returns an error, because API Gateway would answer that with a text of its own. It answers failures
// with problems.
func (a *Adapter) Handle(ctx context.Context, e events.APIGatewayV2HTTPRequest) (answer events.APIGatewayV2HTTPResponse, _ error) {
	err := panics.Catch(func() (err error) {
		answer, err = a.handle(ctx, &e)
		return err
	})
	if err != nil {
		p, ok := errors.AsType[*problem.Error](err)
		if !ok {
			p = problem.Internal.Wrap(err, "Something went wrong in the server. Try again.")
		}
		return fail(&e, p), nil
	}
	return answer, nil
}

// handle answers one event. It corrects the path in e.
func (a *Adapter) handle(ctx context.Context, e *events.APIGatewayV2HTTPRequest) (answer events.APIGatewayV2HTTPResponse, err error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-answerMargin))
		defer cancel()
	}
	e.RawPath = path(e)
	e.QueryStringParameters = nil // RawQueryString also has repeated parameters
	c := &invocation{event: e}
	answer, err = a.proxy.ProxyWithContext(context.WithValue(ctx, invocationKey{}, c), *e)
	switch {
	case err != nil && !c.read:
		return answer, problem.BadRequest.Wrap(err, "The request cannot be read. Check the escapes of its address and the encoding of its body.")
	case err != nil:
		return answer, err
	case tooLarge(&answer):
		return answer, problem.InvalidParameter.New("The answer has %s, which is more than can be sent. Accept it with gzip "+
			"(`Accept-Encoding`), or ask for fewer with {?limit} or for less with {?fields}.", problem.Size(len(answer.Body)))
	}
	if e.RequestContext.HTTP.Method == http.MethodHead {
		answer.Body, answer.IsBase64Encoded = "", false
	}
	return answer, nil
}

// tooLarge reports whether Lambda would refuse the answer. It does not encode small bodies, because escaping a byte takes at most six
// bytes.
func tooLarge(answer *events.APIGatewayV2HTTPResponse) bool {
	if len(answer.Body) < maxAnswer/8 {
		return false
	}
	whole, err := json.Marshal(answer)
	return err != nil || len(whole) > maxAnswer
}

// path returns the path of the request as the client sent it. It removes the stage, which API Gateway prepends, and restores escapes,
// which API Gateway may remove.
func path(e *events.APIGatewayV2HTTPRequest) string {
	p := e.RawPath
	if stage := e.RequestContext.Stage; stage != "" && stage != "$default" {
		if rest, ok := strings.CutPrefix(p, "/"+stage); ok && (rest == "" || rest[0] == '/') {
			p = "/" + strings.TrimPrefix(rest, "/")
		}
	}
	if u, err := url.ParseRequestURI(p); err == nil && u.RawQuery == "" && u.EscapedPath() == p {
		return p
	}
	return (&url.URL{Path: p}).EscapedPath()
}

// restoreHeaders restores the headers that the client sent. The proxy splits values at commas, even in dates and idempotency keys.
// Repeated headers remain joined, as API Gateway joins them.
func restoreHeaders(r *http.Request, e *events.APIGatewayV2HTTPRequest) {
	h := make(http.Header, len(e.Headers))
	for name, value := range e.Headers {
		h.Set(name, value)
	}
	if len(e.Cookies) > 0 {
		h.Set("Cookie", strings.Join(e.Cookies, "; "))
	}
	r.Header, r.Host = h, e.RequestContext.DomainName
}

// fail answers an event with a problem that occurred outside package api.
func fail(e *events.APIGatewayV2HTTPRequest, p *problem.Error) events.APIGatewayV2HTTPResponse {
	id := e.RequestContext.RequestID
	slog.Error("an event was not answered by the edge", "requestId", id, "problem", p.Error())
	body, _ := json.Marshal(p.Document(e.RawPath, id)) // encoding strings and numbers cannot fail
	return events.APIGatewayV2HTTPResponse{
		StatusCode: p.Kind.Status,
		Headers: map[string]string{
			"Content-Type": problem.MediaType, "Cache-Control": "no-store", "X-Request-Id": id, "X-Content-Type-Options": "nosniff",
		},
		Body: string(body),
	}
}
