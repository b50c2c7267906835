package api

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"assay/shared/access"
	"assay/shared/auth"
	"assay/shared/blob"
	"assay/shared/buildinfo"
	"assay/shared/compute"
	"assay/shared/metrics"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/quota"
	"assay/shared/ratelimit"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// Env is what operations work with.
type Env struct {
	Store  store.Store
	Files  blob.Store
	Now    func() time.Time
	Log    *slog.Logger
	Verify func(ctx context.Context, token string) (access.Caller, error) // an error is a problem
	// Endpoints returns those of the issuer; an error is a problem. It may be nil where Info has no client.
	Endpoints func(ctx context.Context) (auth.Endpoints, error)
	Info      Info
	Quotas    *quota.Ledger // of users and of the server; New makes one without limits where there is none
	// Rates holds callers to limits; nil: to none.
	Rates *ratelimit.Limiter
	// RenderHTML renders what would be JSON for callers who prefer text/html, as browsers do; nil: they get JSON.
	RenderHTML func(ctx context.Context, s JSONDocument) (body []byte, policy string, err error)
	Metrics    metrics.Recorder // of requests and of refusals for quotas
	// Alone says that no other process serves the table, so that a request that is not handled here has ended.
	Alone bool
	// Origins of web pages that may call the service from a browser; "*" allows all.
	Origins []string
}

// Info is what a server says of itself.
type Info struct {
	Name, Version, Commit string
	Build                 string // tells builds apart that know no commit; it is not shown
	Issuer                string // where to sign in
	ClientID              string // public client of the issuer for that; empty: none
	FilesOrigin           string // of signed links to files, such as https://bucket.s3.eu-west-1.amazonaws.com; empty: the server's
	URL                   string // at which clients reach the server; empty: that of each request
}

// Version is that of the program and of the description of its interface.
const Version = buildinfo.Version

// BuildInfo returns what the build knows of itself, with the issuer.
func BuildInfo(issuer string) Info {
	return Info{Name: "assay", Version: Version, Commit: buildinfo.Commit(), Issuer: issuer}
}

// Call is one request on its way through an operation.
type Call struct {
	*Env
	visibility.Viewer
	Store store.Store // that of Env and of Viewer, which is the same
	Page  page.Request
	// Tx is the change that the handler makes, all or nothing, once it has returned; an empty one changes nothing.
	Tx *records.Tx
	// TargetRoles are those of the caller for the target of an operation that changes something; for others, ask Roles.
	TargetRoles access.Role

	op       *Operation
	request  *http.Request
	w        http.ResponseWriter
	state    *requestState
	target   Target
	accepted string // media type of the answer
	body     []byte
	stored   []string                // objects stored by this call
	after    []func(context.Context) // what is done after the change
	effects  []Effect                // of the change in Tx
	preview  *preview                // nil unless the call changes nothing

	server *Server
	slots  []*compute.Slot // of the server's memory, until the answer begins
}

// release releases the memory that the call holds, before the first byte of an answer: a caller who reads slowly keeps no
// other waiting.
func (c *Call) release() {
	for _, slot := range c.slots {
		slot.Release()
	}
	c.slots, c.body = nil, nil
}

// PoolCaller identifies the caller to the pools of slots.
func (c *Call) PoolCaller() compute.Caller {
	return compute.Caller{Name: c.Rates.Caller(c.request, c.Caller.ID), LoggedIn: !c.Caller.Anonymous()}
}

// Param returns a parameter of the path.
func (c *Call) Param(name string) string { return c.request.PathValue(name) }

// BaseURL is the URL at which the caller reaches the server, without a slash at its end.
func (c *Call) BaseURL() string {
	switch {
	case c.Info.URL != "":
		return c.Info.URL
	case c.request.URL.Scheme != "": // as a gateway sets it
		return c.request.URL.Scheme + "://" + c.request.Host
	case c.request.TLS != nil:
		return "https://" + c.request.Host
	default:
		return "http://" + c.request.Host
	}
}

// Host is the host that the caller named, with its port: another than that of BaseURL where the server has several names.
func (c *Call) Host() string { return c.request.Host }

// Development reports whether the server is its own issuer, which gives everyone a token.
func (c *Call) Development() bool { return c.Info.Issuer == c.BaseURL()+"/dev" }

// Address is the path and query of the request, as they were sent.
func (c *Call) Address() (path, rawQuery string) {
	return c.request.URL.EscapedPath(), c.request.URL.RawQuery
}

// RawQuery returns a parameter of the query before it is checked, so that a Loader can read in one call all that the
// request will need.
func (c *Call) RawQuery(param string) string { return c.request.URL.Query().Get(param) }

// Load returns a Loader that reads the record whose id is in the path parameter.
func Load[R any, P interface {
	records.Pointer[R]
	Target
}](param string, key func(id string) store.Key) Loader[P] {
	return func(ctx context.Context, c *Call) (P, error) {
		return visibility.Find[R, P](ctx, &c.Viewer, c.Param(param), key)
	}
}

// Organizes reports whether the caller organizes the target of an operation that changes something, or is an administrator.
func (c *Call) Organizes() bool { return c.TargetRoles&(access.Organizer|access.Admin) != 0 }

// authorizeTarget finds the target of the request and decides whether the caller may call the operation on it. The grants of a
// caller with a login are read also when the target is missing, so that the time taken does not tell missing from hidden. For
// targets that are never hidden, find can return a problem of its own.
func (c *Call) authorizeTarget(ctx context.Context, find targetLoader) (Target, error) {
	t, err := find(ctx, c)
	if errors.Is(err, visibility.Missing) {
		if _, gerr := c.Grants(ctx); gerr != nil {
			return nil, gerr
		}
		return nil, visibility.Missing
	}
	if err != nil {
		return nil, err
	}
	if err := c.Require(ctx, c.op.May, t.Scope()); err != nil || !c.op.Changes() {
		return t, err
	}
	c.TargetRoles, err = c.Roles(ctx, t.Scope())
	return t, err
}

// retryOnConflict makes a change of the target as it was found, and again of the target as it is then for as long as another
// request changes it in between. The preconditions must hold each time.
func (c *Call) retryOnConflict(ctx context.Context, find targetLoader, change func(Target) error) error {
	t := c.target
	err := records.Retry(ctx, func() error {
		if t == nil {
			c.Forget()
			var err error
			if t, err = c.authorizeTarget(ctx, find); err != nil {
				return err
			}
		}
		if err := c.checkWritePreconditions(t); err != nil {
			return err
		}
		return c.transact(ctx, func() error {
			err := change(t)
			t = nil
			return err
		})
	})
	return c.finish(ctx, err)
}

// transact makes one attempt at a change, which adds the writes to c.Tx.
func (c *Call) transact(ctx context.Context, change func() error) error {
	c.deleteStoredFiles(ctx)
	c.Tx = new(records.Tx)
	c.after = nil
	c.effects = nil
	if err := change(); err != nil {
		return err
	}
	err := c.Tx.Commit(ctx, c.Store)
	if records.OutcomeUnknown(err) {
		c.stored = nil // a write that may have succeeded names these files: the cleaning of abandoned files decides
	}
	return err
}

// finish does what follows a change that was made, or failed.
func (c *Call) finish(ctx context.Context, err error) error {
	if err != nil {
		c.deleteStoredFiles(ctx)
		return err
	}
	c.stored = nil
	if c.preview != nil {
		c.preview.effects = append(c.preview.effects, c.effects...)
		return nil
	}
	if c.Tx.Len() > 0 {
		auth.NoteUse(ctx, c.Store, c.Caller, c.Now(), c.Log)
	}
	for _, do := range c.after {
		do(ctx)
	}
	return nil
}

// PutFile stores the bytes of an inline file under a key that only this call has. They are removed again when the call fails.
func (c *Call) PutFile(ctx context.Context, key string, f record.File, content []byte) error {
	err := c.ShareFile(ctx, key, f, content)
	if err == nil {
		c.stored = append(c.stored, key)
	}
	return err
}

// ShareFile stores the bytes of an inline file under a key that files with the same bytes share. They stay when the call
// fails; the cleaning of abandoned files finds those that no record names.
func (c *Call) ShareFile(ctx context.Context, key string, f record.File, content []byte) error {
	o := blob.Object{Key: key, Size: f.Size, SHA256: f.SHA256, MediaType: f.MediaType}
	if err := c.Files.Put(ctx, o, bytes.NewReader(content)); err != nil {
		return problem.Unavailable.Wrap(err, "The file could not be stored. Try again in a few seconds.").After(2 * time.Second)
	}
	return nil
}

// deleteStoredFiles removes what PutFile stored, as far as it can: the cleaning of abandoned files finds the rest.
func (c *Call) deleteStoredFiles(ctx context.Context) {
	if len(c.stored) == 0 {
		return
	}
	ctx, cancel := cleanupContext(ctx)
	defer cancel()
	if err := c.Files.Delete(ctx, c.stored...); err != nil {
		c.Log.WarnContext(ctx, "files of a failed request stay until the next cleaning", "keys", c.stored, "error", err)
	}
	c.stored = nil
}

// cleanupTimeout is how long cleaning up after a request may take.
const cleanupTimeout = 3 * time.Second

// cleanupContext is the context of cleaning up after a request whose own context may have ended.
func cleanupContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
}

// Charge adds to c.Tx what the caller takes of the quotas, or returns the problem that they do not allow it.
func (c *Call) Charge(ctx context.Context, ch record.Charge) error {
	g, err := c.Grants(ctx)
	if err != nil {
		return err
	}
	return c.Quotas.Take(ctx, c.Tx, c.Caller, g.Usage, ch)
}

// CheckNext refuses a further grant of the kind to a caller who has the most.
func (c *Call) CheckNext(ctx context.Context, kind record.GrantKind) error {
	g, err := c.Grants(ctx)
	if err != nil {
		return err
	}
	return kind.CheckNext(g)
}

// Account is the account of a user, as c.Tx changes it.
func (c *Call) Account(userID string) quota.Account {
	return quota.Account{Store: c.Store, Tx: c.Tx, Now: c.Now(), UserID: userID}
}

// Audit adds to c.Tx the entry of record.NewAudit that the caller did the action, and charges the caller for it: entries stay,
// so repeating a change must not fill the disk with them. The caller's profile is stored, so that the entry
// can be shown with a name.
func (c *Call) Audit(ctx context.Context, of access.Scope, action, subject string, before, after any, users ...string) error {
	if err := c.AuditFree(ctx, of, action, subject, before, after, users...); err != nil {
		return err
	}
	return c.Charge(ctx, record.Charge{Kind: record.MadeAudits, Count: 1})
}

// AuditFree is Audit without the charge, for entries about what is created or deleted: they are no more than the quotas of
// what is created allow.
func (c *Call) AuditFree(ctx context.Context, of access.Scope, action, subject string, before, after any, users ...string) error {
	c.Tx.Create(record.NewAudit(c.Now(), of, c.Caller.ID, action, subject, before, after, users...))
	return c.UpsertProfile(ctx)
}

// SetHeader sets a header of the answer.
func (c *Call) SetHeader(name, value string) { c.w.Header().Set(name, value) }
