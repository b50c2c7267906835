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

	"assay/shared/auth"
	"assay/shared/diskfull"
	"assay/shared/panics"
	"assay/shared/problem"
	"assay/shared/quota"
	"assay/shared/ratelimit"
	"assay/shared/record"
	"assay/shared/store"
)

// RequestTime is how long an operation may take; what is not done then is cancelled, and the answer says to try again.
const RequestTime = 25 * time.Second

// Server serves operations.
type Server struct {
	env    *Env
	mux    *http.ServeMux
	mounts []mount

	memory memory

	claims sync.Map // keys of the records of Idempotency-Keys whose requests this process handles
}

// mount is a handler of everything under a path, which is no operation.
type mount struct {
	prefix      string
	methods     []string
	handler     http.Handler
	crossOrigin bool // open to pages of other origins
}

// Mount serves everything under prefix, which ends in a slash, by a handler instead of operations, such as the one of
// signed file links. It shares request ids, the log, the answer to a panic and, when it is crossOrigin, CORS. Mount before
// serving.
func (s *Server) Mount(prefix string, h http.Handler, crossOrigin bool, methods ...string) {
	s.mounts = append(s.mounts, mount{prefix: prefix, methods: methods, handler: h, crossOrigin: crossOrigin})
}

// New returns a handler that serves the operations, and answers everything else with a problem.
func New(env *Env, operations []Operation) *Server {
	env.Quotas = cmp.Or(env.Quotas, quota.New(record.Quotas{}, env.Store, func() time.Time { return env.Now() }))
	s := &Server{env: env, mux: http.NewServeMux(), memory: newMemory()}
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

// run takes a request through the steps.
func (s *Server) run(ctx context.Context, c *Call) error {
	ctx, cancel := context.WithTimeout(ctx, RequestTime)
	defer cancel()
	if err := c.authenticate(ctx); err != nil {
		return err
	}
	c.Consistency = c.consistency()
	class := c.op.class()
	if c.asksForPreview() {
		class = ratelimit.Tool // it computes, and changes nothing
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

// limit refuses a caller who exceeds the rate limits of the class. It comes before the body is read, and after authentication,
// so that a user's limits are the user's alone: an invalid token costs less to refuse than any operation without a limit.
func (s *Server) limit(w http.ResponseWriter, r *http.Request, class ratelimit.Class, userID string) error {
	if class == "" || s.env.Rates == nil {
		return nil
	}
	wait := s.env.Rates.Take(s.env.Now(), class, s.env.Rates.Caller(r, userID), userID != "", w.Header())
	if wait == 0 {
		return nil
	}
	return problem.TooManyRequests.New("You send requests of this kind (%s) faster than the server takes them from one caller. Wait for as "+
		"long as Retry-After says; GET /info has the limits.", class).After(wait)
}

// authenticate finds out who calls. A token that is not valid is refused everywhere: a client that sends one expects to be identified.
func (c *Call) authenticate(ctx context.Context) error {
	token, err := auth.BearerToken(c.request.Header.Values("Authorization"))
	if err != nil || token == "" {
		return err
	}
	c.Caller, err = c.Verify(auth.WithAddress(ctx, c.Rates.Caller(c.request, "")), token)
	c.state.caller = c.Caller.ID
	return err
}

// consistency is how fresh what the request reads must be. A change decides by what is there now, and a caller with a login sees their
// own writes in a single resource; anybody else, and lists, which read indexes, may see them about a second later, at half the price.
func (c *Call) consistency() store.Consistency {
	single := !c.op.Query.List && !c.op.computes()
	return store.Consistency(c.op.Changes() || single && !c.Caller.Anonymous())
}

// checkScope refuses an access token that lacks what the operation takes, and takes from one that changes something the roles that it
// does not convey.
func (c *Call) checkScope() error {
	if need := c.op.TokenScope(); !c.Caller.Allows(need) {
		return problem.InsufficientScope.New("The scopes of this access token (%s) do not allow this. Access tokens that do: %s. Else log in.",
			strings.Join(c.Caller.Token.Scopes.Names(), ", "), need)
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
			return problem.HeadersTooLarge.New("The header fields of the request have more than %d bytes. Send fewer or shorter ones.",
				MaxHeaderBytes)
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
		panic(http.ErrAbortHandler) // the caller must see that the answer is not whole
	}
}

// statusHungUp is what the log and the metrics have of a request whose caller did not wait for the answer. It is no status of HTTP, but
// that which nginx has for it; nothing is sent.
const statusHungUp = 499

// MaxHeaderBytes is how many bytes the header fields of a request have at most. A server must read more than that, for the
// problem to be answered; what net/http itself refuses, it answers in text.
const MaxHeaderBytes = 32 << 10

func headerBytes(h http.Header) (n int) {
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(v)
		}
	}
	return n
}

// route hands the request to its operation or mount.
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
		return s.refuse(w, r) // the mux would redirect
	}
	s.mux.ServeHTTP(w, r)
	return nil
}

// refuse answers a request that no operation matches, and names the methods that the address has.
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
		return problem.NotFound.New("There is nothing at this address. GET / and GET /v1 list what there is; no address ends in a slash.")
	}
	if r.Method == http.MethodOptions {
		preflight(w, allowed)
		return nil
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return problem.MethodNotAllowed.New("%s is not possible here; %s is.", r.Method, strings.Join(allowed, ", "))
}

// preflight answers a preflight request of CORS: what a page of another origin may send.
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

// methods lists the methods of the operations at the path of the request.
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

// allowOrigin lets pages of the configured origins read the answer. Credentials travel in a header that a page must set
// itself, so no cookie is ever at stake.
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

// Fail answers with the problem that err is; any other error is a fault of the server, which only the log names.
func (s *Server) Fail(w http.ResponseWriter, r *http.Request, err error) {
	st := r.Context().Value(requestStateKey{}).(*requestState)
	st.failure = err
	p := diskfull.Problem(err)
	if p == nil && !errors.As(err, &p) {
		p = problem.Internal.Wrap(err,
			"Something went wrong in the server. Try again; if it happens again, report the requestId to those who run the server.")
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
		h.Del(name) // they were of the successful answer
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
	body, _ := Encode(p.Document(st.path, st.requestID)) // of texts and numbers, which cannot fail
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
