package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/auth"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/panics"
	"assay/shared/language/problem"
	"assay/shared/service/quota"
	"assay/shared/service/visibility"
	"assay/shared/storage/diskfull"
	"assay/shared/storage/store"
)

// RequestTime bounds the time of an operation. Afterwards the operation is cancelled, and the answer tells the caller to try again.
const RequestTime = 25 * time.Second

// Server serves operations.
type Server struct {
	env    *Env
	mux    *http.ServeMux
	mounts []mount

	memory memory
	tags   *tags

	claims sync.Map // keys of the Idempotency records whose requests this process is handling
}

// mount is a handler for all paths with a prefix. It bypasses the operations.
type mount struct {
	prefix      string
	methods     []string
	handler     http.Handler
	crossOrigin bool // open to pages of other origins
}

// Mount serves all paths with the prefix by a handler instead of operations, for example signed file links. The prefix ends in a slash.
// Mounts share request ids, the log, the answer to a panic and, if crossOrigin is set, CORS. Call Mount before serving.
func (s *Server) Mount(prefix string, h http.Handler, crossOrigin bool, methods ...string) {
	s.mounts = append(s.mounts, mount{prefix: prefix, methods: methods, handler: h, crossOrigin: crossOrigin})
}

// New returns a handler that serves the operations. It answers all other requests with a problem.
func New(env *Env, operations []Operation) *Server {
	env.Quotas = cmp.Or(env.Quotas, quota.New(record.Quotas{}, env.Store, func() time.Time { return env.Now() }))
	s := &Server{env: env, mux: http.NewServeMux(), memory: newMemory(), tags: newTags()}
	handle := func(pattern string, serve func(http.ResponseWriter, *http.Request) error) {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := serve(w, r); err != nil {
				s.Fail(w, r, err)
			}
		})
	}
	for _, op := range operations {
		handle(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) error {
			c := &Call{Env: env, op: &op, request: r, w: w, state: r.Context().Value(requestStateKey{}).(*requestState), server: s}
			c.Store, c.Viewer.Store = env.Store, env.Store
			c.state.operation = op.ID
			return s.run(r.Context(), c)
		})
	}
	handle(unmatched, s.refuse)
	return s
}

// unmatched is the pattern of requests that no operation matches.
const unmatched = "/"

// run takes a request through the steps of its operation.
func (s *Server) run(ctx context.Context, c *Call) error {
	ctx, cancel := context.WithTimeout(ctx, RequestTime)
	defer cancel()
	if err := c.authenticate(ctx); err != nil {
		return err
	}
	c.Consistency = c.consistency()
	class := c.op.class()
	if c.asksForPreview() {
		class = ratelimit.Tool // a preview computes and changes nothing
	}
	if err := s.limit(c.w, c.request, class, c.Caller.ID); err != nil {
		return err
	}
	defer c.release()
	if err := c.checkScope(); err != nil {
		return err
	}
	if c.op.loginNeeded() && c.op.targetInBody && c.Caller.Anonymous() {
		return c.Require(ctx, c.op.May, PublicTarget{}.Scope())
	}
	if !c.op.targetInBody {
		var err error
		if c.target, err = c.authorizeTarget(ctx, c.op.load); err != nil {
			return err
		}
	}
	var err error
	if c.Page, err = c.op.query().Parse(c.request.URL.RawQuery); err != nil {
		return err
	}
	if c.asksForPreview() {
		c.beginPreview()
	}
	if err := c.negotiate(); err != nil {
		return err
	}
	if c.op.Query.List || c.accepted == mediaHTML && !c.op.computes() {
		if err := c.BeginListing(ctx); err != nil {
			return err
		}
	}
	return c.op.serve(ctx, c)
}

// limit refuses a caller who exceeds the rate limits of the class. It runs after authentication, so that nobody else can use up a user's
// limits, and before the body is read. An invalid token is refused earlier, which costs less than any operation without a limit.
func (s *Server) limit(w http.ResponseWriter, r *http.Request, class ratelimit.Class, userID string) error {
	if class == "" || s.env.Rates == nil {
		return nil
	}
	wait := s.env.Rates.Take(s.env.Now(), class, s.env.Rates.Caller(r, userID), userID != "", w.Header())
	if wait == 0 {
		return nil
	}
	return problem.TooManyRequests.New("You send requests of this kind (%s) faster than the server takes them from one caller. Wait for as "+
		"long as Retry-After says; %s has the limits.", class, problem.GetInfo.With()).After(wait)
}

// authenticate identifies the caller. It refuses an invalid token even where none is needed, because the client expects to be identified.
func (c *Call) authenticate(ctx context.Context) error {
	token, err := auth.BearerToken(c.request.Header.Values("Authorization"))
	if err != nil || token == "" {
		return err
	}
	c.Caller, err = c.Verify(auth.WithAddress(ctx, c.Rates.Caller(c.request, "")), token)
	c.state.caller = c.Caller.ID
	return err
}

// consistency returns how fresh reads must be. Changes read strongly, because they decide by the current state. So does a caller with a
// login who reads a single resource, in order to see their own changes. All other reads may be about a second old and cost half.
func (c *Call) consistency() store.Consistency {
	single := !c.op.Query.List && !c.op.computes()
	return store.Consistency(c.op.Changes() || single && !c.Caller.Anonymous())
}

// checkScope refuses an access token without a scope that the operation needs. For a change it also removes the roles that the token does
// not convey.
func (c *Call) checkScope() error {
	if need := c.op.TokenScope(); !c.Caller.Allows(need) {
		return visibility.LacksScope(c.Caller, need)
	}
	if c.op.Changes() {
		c.Caller = c.Caller.Changing()
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := s.env.Now()
	st := &requestState{requestID: auth.RequestID(r.Header.Get("X-Request-Id"), started), path: r.URL.EscapedPath(),
		codings: acceptedCodings(r.Header["Accept-Encoding"])}
	r = r.WithContext(context.WithValue(r.Context(), requestStateKey{}, st))
	out := &statusRecorder{ResponseWriter: w}
	h := w.Header()
	h.Set("X-Request-Id", st.requestID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Origin")
	err := panics.Catch(func() error {
		if headerBytes(r.Header) > MaxHeaderBytes {
			return problem.HeadersTooLarge.New("The header fields of the request have more than %s. Send fewer or shorter ones.",
				problem.Size(MaxHeaderBytes))
		}
		return s.route(out, r)
	})
	_, panicked := errors.AsType[*panics.Error](err)
	begun := out.status != 0
	if err != nil {
		s.Fail(out, r, err)
	}
	s.log(r, st, out.status, started)
	if panicked && begun {
		panic(http.ErrAbortHandler) // closes the connection, so that the caller notices the incomplete answer
	}
}

// statusHungUp is the status in log and metrics of a request whose caller closed the connection before the answer. HTTP does not define
// it; nginx uses it in the same way. It is never sent.
const statusHungUp = 499

// MaxHeaderBytes is the greatest total size of the header fields of a request. The http.Server must accept more than that, so that this
// package answers with a problem document. net/http answers with plain text when its own limit is exceeded.
const MaxHeaderBytes = 32 << 10

func headerBytes(h http.Header) (n int) {
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(v)
		}
	}
	return n
}

// route passes the request to its mount or operation.
func (s *Server) route(w http.ResponseWriter, r *http.Request) error {
	for _, m := range s.mounts {
		if strings.HasPrefix(r.URL.Path, m.prefix) {
			if m.crossOrigin {
				s.allowOrigin(w.Header(), r.Header.Get("Origin"))
			}
			if coding := contentCoding(r); coding != codingIdentity && r.ContentLength != 0 {
				return unsupportedCoding(w.Header(), codingIdentity)
			}
			if r.Method == http.MethodOptions && m.crossOrigin {
				preflight(w, m.methods)
				return nil
			}
			if r.Method == http.MethodPut {
				if err := s.limit(w, r, ratelimit.Upload, ""); err != nil {
					return err
				}
			}
			m.handler.ServeHTTP(w, r)
			return nil
		}
	}
	s.allowOrigin(w.Header(), r.Header.Get("Origin"))
	if path.Clean(r.URL.Path) != r.URL.Path {
		return s.refuse(w, r) // the mux would answer with a redirect
	}
	s.mux.ServeHTTP(w, r)
	return nil
}

// refuse answers a request that no operation matches. If the path has operations with other methods, the answer names those methods.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request) error {
	c := &Call{Env: s.env, request: r, w: w, state: r.Context().Value(requestStateKey{}).(*requestState)}
	if err := c.authenticate(r.Context()); err != nil {
		return err
	}
	allowed := s.methods(r)
	if slices.ContainsFunc(s.mounts, func(m mount) bool { return strings.HasPrefix(m.prefix, r.URL.Path+"/") }) {
		return problem.Forbidden.New("Nobody can list what is under this address. The resources and documents of the service link to it.")
	}
	if len(allowed) == 0 {
		return problem.NotFound.New("There is nothing at this address, and no address ends in a slash. To find an address, see %s or %s.",
			problem.GetIndex.With(), problem.GetVersionIndex.With())
	}
	if r.Method == http.MethodOptions {
		preflight(w, allowed)
		return nil
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return problem.MethodNotAllowed.New("%s is not possible here; %s is.", r.Method, strings.Join(allowed, ", "))
}

// preflight answers a preflight request of CORS with the methods and headers that pages of other origins may send.
func preflight(w http.ResponseWriter, methods []string) {
	h := w.Header()
	h.Set("Allow", strings.Join(methods, ", "))
	h.Set("Access-Control-Allow-Methods", strings.Join(methods, ", "))
	h.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Encoding, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id, X-Amz-Checksum-Sha256")
	h.Set("Access-Control-Max-Age", "600")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// methods lists the methods that the path of the request supports.
func (s *Server) methods(r *http.Request) []string {
	if path.Clean(r.URL.Path) != r.URL.Path {
		return nil
	}
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		probe := &http.Request{Method: m, URL: r.URL, Host: r.Host}
		if _, pattern := s.mux.Handler(probe); pattern != unmatched {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) > 0 {
		allowed = append(allowed, http.MethodOptions)
	}
	return allowed
}

// allowOrigin lets pages of the configured origins read the answer. This is safe because pages set credentials explicitly in a header, and
// the API uses no cookies.
func (s *Server) allowOrigin(h http.Header, origin string) {
	if origin == "" {
		return
	}
	allow := origin
	if slices.Contains(s.env.Origins, "*") {
		allow = "*"
	} else if !slices.Contains(s.env.Origins, origin) {
		return
	}
	h.Set("Access-Control-Allow-Origin", allow)
	h.Set("Access-Control-Expose-Headers",
		"Accept-Encoding, Content-Location, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, Accept-Patch, "+
			"Accept-Post, Idempotent-Replay")
}

// Fail answers with the problem in err. Any other error is answered as an internal error, and only the log shows the error.
func (s *Server) Fail(w http.ResponseWriter, r *http.Request, err error) {
	st := r.Context().Value(requestStateKey{}).(*requestState)
	st.failure = err
	p := diskfull.Problem(err)
	if p == nil && !errors.As(err, &p) {
		p = problem.Internal.Wrap(err,
			"Something went wrong in the server. Try again; if it happens again, report the id of the request to those who run the server.")
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			p = problem.Unavailable.Wrap(err, "The request took too long and was given up. Try again.").After(time.Second)
		}
	}
	if rec, ok := w.(*statusRecorder); ok {
		if rec.status != 0 {
			return // the answer had begun
		}
		if errors.Is(err, context.Canceled) && errors.Is(r.Context().Err(), context.Canceled) {
			rec.status = statusHungUp
			return
		}
	}
	h := w.Header()
	for _, name := range []string{"Content-Location", "ETag", "Link", "Location"} {
		h.Del(name) // set for the successful answer
	}
	switch p.Kind {
	case problem.Unauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case problem.InvalidToken:
		h.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	case problem.InsufficientScope:
		h.Set("WWW-Authenticate", `Bearer error="insufficient_scope"`)
	}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.RetryAfter+time.Second-1)/time.Second)))
	}
	body, _ := Encode(p.Document(st.path, st.requestID)) // encoding strings and numbers cannot fail
	mediaType := problem.MediaType
	if s.prefersPage(r) {
		if page, err := s.env.renderHTML(r.Context(), h, JSONDocument{p.Kind.Title, st.path, body}); err == nil {
			body, mediaType = page, mediaPage
		}
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", vary)
	a, coded := answer{status: p.Kind.Status, mediaType: mediaType, body: body}.encode(r.Context(), st.codings)
	a.send(w, coded)
}
