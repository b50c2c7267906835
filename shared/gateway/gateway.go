// Package gateway is the way from an API Gateway HTTP API into the edge and back: it turns events of payload format 2.0 into
// requests for api.Server, so that a function answers what the one binary answers, byte for byte.
//
// aws-lambda-go-api-proxy makes the request of an event and the event's answer of what the handler writes: bodies in base64,
// cookies, headers that came twice. What it changes on the way is put back here: paths with their escapes and without the stage,
// headers as they were sent, and problems in place of its errors.
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

	"assay/shared/api"
	"assay/shared/auth"
	"assay/shared/blob"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/metrics"
	"assay/shared/panics"
	"assay/shared/problem"
	"assay/shared/quota"
	"assay/shared/ratelimit"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/store/dynamo"
	"assay/shared/webpage/resource"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
)

// Serve serves the operations of a family that has nothing to do with files as a function of Lambda, on the table that the environment
// names. It returns only when it cannot begin, with the status to exit with, and logs what the environment lacks.
func Serve(operations []api.Operation) (status int) {
	var env config.Environment
	return serve(&env, operations, nil)
}

// ServeWithFiles is Serve for a family with files, which are in the bucket that the driver opens: programs that name none do not link it.
func ServeWithFiles[B blob.Store](operations []api.Operation, bucket awsconfig.Driver[B]) (status int) {
	var env config.Environment
	return serve(&env, operations, bucket(awsconfig.Bucket(&env)))
}

func serve(env *config.Environment, operations []api.Operation, files blob.Store) (status int) {
	log := slog.New(requestIDs{slog.NewJSONHandler(os.Stdout, nil)})
	slog.SetDefault(log)
	a, err := open(env, operations, dynamo.New(awsconfig.Table(env)), files, log)
	if err != nil {
		log.Error("the function cannot start", "error", err)
		return 1
	}
	lambda.Start(a.Handle)
	return 0
}

// open does what comes before the first event. It asks nobody, and has the issuer asked in the background: a request with a
// token waits for that, and no other.
func open(settings *config.Environment, operations []api.Operation, table store.Store, files blob.Store,
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
	ledger.ResultTime = record.AbandonedAfter // by the rule of the bucket
	rates := ratelimit.New(ratelimit.Distributed(), "")
	env := &api.Env{
		Store: ledger.Store(), Quotas: ledger, Files: files, Now: time.Now, Log: log,
		Verify: auth.NewAuthenticator(verifier.Caller, table, time.Now, rates).Caller, Origins: config.Origins(),
		Info: api.BuildInfo(issuer), Endpoints: verifier.Endpoints, Rates: rates,
		RenderHTML: resource.Render,
		Metrics:    metrics.CloudWatch(log, os.Getenv(config.TableVariable), time.Now),
	}
	env.Info.ClientID = os.Getenv(config.ClientIDVariable)
	env.Info.FilesOrigin = os.Getenv(config.FilesOriginVariable)
	return New(api.New(env, operations)), nil
}

// maxAnswer is how large an answer may be as Lambda takes it: JSON, in which a body that is JSON itself is escaped, and one
// that is coded stands in base64, by a third longer.
const maxAnswer = 6 << 20

// answerMargin is how long before Lambda's timeout a request is given up, so that its caller gets the problem of the API, and not what
// API Gateway makes of a function that Lambda ended.
const answerMargin = 500 * time.Millisecond

// Adapter serves events by a handler of HTTP.
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

// invocation is one event on its way.
type invocation struct {
	event *events.APIGatewayV2HTTPRequest
	read  bool // it has become a request
}

type invocationKey struct{}

// requestIDs adds to each line about a request the ids by which API Gateway and Lambda know it, so that one line leads from the answer's
// X-Request-Id to the access log and to the lines that Lambda writes itself.
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

// Handle answers one event. Whatever happens, the answer is one of the API, and never an error of the function: API
// Gateway would make a text of its own of it.
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

// handle answers one event, whose path it corrects.
func (a *Adapter) handle(ctx context.Context, e *events.APIGatewayV2HTTPRequest) (answer events.APIGatewayV2HTTPResponse, err error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-answerMargin))
		defer cancel()
	}
	e.RawPath = path(e)
	e.QueryStringParameters = nil // RawQueryString has them, and also those that come twice
	c := &invocation{event: e}
	answer, err = a.proxy.ProxyWithContext(context.WithValue(ctx, invocationKey{}, c), *e)
	switch {
	case err != nil && !c.read:
		return answer, problem.BadRequest.Wrap(err, "The request cannot be read. Check the escapes of its address and the encoding of its body.")
	case err != nil:
		return answer, err
	case tooLarge(&answer):
		return answer, problem.InvalidParameter.New("The answer has %d bytes, which is more than can be sent. Accept it with gzip "+
			"(`Accept-Encoding`), or ask for fewer with `limit` or for less with `fields`.", len(answer.Body))
	}
	if e.RequestContext.HTTP.Method == http.MethodHead {
		answer.Body, answer.IsBase64Encoded = "", false
	}
	return answer, nil
}

// tooLarge reports whether Lambda would refuse the answer. A small body is not measured: escapes make of a byte six at most.
func tooLarge(answer *events.APIGatewayV2HTTPResponse) bool {
	if len(answer.Body) < maxAnswer/8 {
		return false
	}
	whole, err := json.Marshal(answer)
	return err != nil || len(whole) > maxAnswer
}

// path is the path of the request as it was sent: without the stage, which API Gateway puts in front of it, and escaped
// again where API Gateway took the escapes away.
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

// restoreHeaders gives the request the headers that were sent: the adapter takes commas for the ends of values, in a key or a
// date too. API Gateway has joined headers that came twice.
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

// fail is the answer of a problem that comes before the edge, or after it.
func fail(e *events.APIGatewayV2HTTPRequest, p *problem.Error) events.APIGatewayV2HTTPResponse {
	id := e.RequestContext.RequestID
	slog.Error("an event was not answered by the edge", "requestId", id, "problem", p.Error())
	body, _ := json.Marshal(p.Document(e.RawPath, id)) // of texts and numbers, which cannot fail
	return events.APIGatewayV2HTTPResponse{
		StatusCode: p.Kind.Status,
		Headers: map[string]string{
			"Content-Type": problem.MediaType, "Cache-Control": "no-store", "X-Request-Id": id, "X-Content-Type-Options": "nosniff",
		},
		Body: string(body),
	}
}
