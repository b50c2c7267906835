package api

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/auth"
	"assay/shared/edge/compute"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/buildinfo"
	"assay/shared/language/metrics"
	"assay/shared/language/problem"
	"assay/shared/service/board"
	"assay/shared/service/health"
	"assay/shared/service/quota"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// Env holds the dependencies and settings of operations.
type Env struct {
	Store store.Store
	Files blob.Store
	Now   func() time.Time
	Log   *slog.Logger
	// Boards follows the commits of Store; nil: leaderboards are read each time.
	Boards *board.Boards
	Verify func(ctx context.Context, token string) (access.Caller, error) // its errors are *problem.Error
	// Endpoints returns the endpoints of the issuer. Its errors are *problem.Error. It may be nil if Info has no client.
	Endpoints func(ctx context.Context) (auth.Endpoints, error)
	Info      Info
	Quotas    *quota.Ledger // of users and of the server; nil: New sets a ledger without limits
	// Rates enforces the rate limits of callers; nil: no limits.
	Rates *ratelimit.Limiter
	// RenderHTML renders JSON as a page for callers who prefer text/html, such as browsers; nil: they get JSON.
	RenderHTML func(ctx context.Context, s JSONDocument) (body []byte, policy string, err error)
	Metrics    metrics.Recorder // of requests and of refusals for quotas
	Health     *health.Monitor  // checks parts whose failure does not stop the service; nil: none
	// Alone says that no other process serves the table. Then a request that this process does not handle has ended.
	Alone bool
	// Origins of web pages that may call the service from a browser; "*" allows all.
	Origins []string
}

// Info describes a server to its clients.
type Info struct {
	Name, Version, Commit string
	Build                 string // distinguishes builds without a commit; not shown
	Issuer                string // where users sign in
	ClientID              string // public client that the issuer knows for signing in; empty: none
	FilesOrigin           string // of signed links to files, such as https://bucket.s3.eu-west-1.amazonaws.com; empty: the server's origin
	Mail                  bool   // whether the server sends e-mails
	URL                   string // at which clients reach the server; empty: the URL of each request
	// WebhookNetworks are addresses that webhooks may have although they are not public, also over http; not shown.
	WebhookNetworks []netip.Prefix
}

// Version is the version of the program and of its API description.
const Version = buildinfo.Version

// BuildInfo returns the Info of this build and of the issuer.
func BuildInfo(issuer string) Info {
	return Info{Name: "assay", Version: Version, Commit: buildinfo.Commit(), Issuer: issuer}
}

// Call is one request on its way through an operation.
type Call struct {
	*Env
	visibility.Viewer
	Store store.Store // equals the Store of Env and of Viewer; declared here because both embed one
	Page  page.Request
	// Tx collects the writes of the handler. They are committed in one transaction after the handler returns. An empty Tx changes nothing.
	Tx *records.Tx
	// TargetRoles are the caller's roles for the target of an operation that changes something. Other operations ask Roles.
	TargetRoles access.Role

	op       *Operation
	request  *http.Request
	w        http.ResponseWriter
	state    *requestState
	target   Target
	accepted string // media type of the answer
	body     []byte
	stored   []string                // keys of objects that this call stored
	after    []func(context.Context) // run after the change is committed
	effects  []Effect                // of the change in Tx
	preview  *preview                // nil unless the call is a preview
	repeats  bool                    // the answer is a resource that existed before

	inputs   *inputsDigest // of the answer; nil: its tag is not remembered
	answered bool          // Unchanged answered 304

	keepUntil *record.Instant // no cache keeps the answer longer; nil: Spec.CacheFor decides

	server *Server
	slots  []*compute.Slot // held in the server's pools until the answer begins
}

// release releases the slots that the call holds. The call releases them before the first byte of its answer, so that a caller who reads
// slowly does not delay others.
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

// BaseURL returns the URL at which the caller reaches the server, without a final slash.
func (c *Call) BaseURL() string {
	switch {
	case c.Info.URL != "":
		return c.Info.URL
	case c.request.URL.Scheme != "": // set by a gateway
		return c.request.URL.Scheme + "://" + c.request.Host
	case c.request.TLS != nil:
		return "https://" + c.request.Host
	default:
		return "http://" + c.request.Host
	}
}

// Host returns the host and port that the caller named. It may differ from the host of BaseURL if the server has several names.
func (c *Call) Host() string { return c.request.Host }

// Development reports whether the server is its own issuer, which gives a token to everyone.
func (c *Call) Development() bool { return c.Info.Issuer == c.BaseURL()+"/dev" }

// Address returns the path and query of the request as the client sent them.
func (c *Call) Address() (path, rawQuery string) {
	return c.request.URL.EscapedPath(), c.request.URL.RawQuery
}

// RawQuery returns a query parameter before it is checked. A Loader uses it to read everything that the request needs in one call of the
// store.
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

// authorizeTarget finds the target of the request and checks that the caller may call the operation on it. It reads the grants of a
// caller with a login even when the target is missing, so that response times do not tell missing targets from hidden ones. If the targets
// of an operation are never hidden, find can return a problem of its own.
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

// retryOnConflict makes a change of the target. When another request changes the target in between, it finds the target again and
// repeats the change. The preconditions must hold each time.
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

// transact makes one attempt at a change. The function change adds the writes to c.Tx.
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
		c.stored = nil // the write may have succeeded and its records name these files; the cleaning of abandoned files decides
	}
	return err
}

// finish completes a change that was committed, or cleans up after a change that failed.
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

// PutFile stores the bytes of an inline file under a key that only this call uses. It removes them again if the call fails.
func (c *Call) PutFile(ctx context.Context, key string, f record.File, content []byte) error {
	err := c.ShareFile(ctx, key, f, content)
	if err == nil {
		c.stored = append(c.stored, key)
	}
	return err
}

// ShareFile stores the bytes of an inline file under a key that files with equal bytes share. They remain if the call fails. The cleaning
// of abandoned files later removes objects that no record names.
func (c *Call) ShareFile(ctx context.Context, key string, f record.File, content []byte) error {
	o := blob.Object{Key: key, Size: f.Size, SHA256: f.SHA256, MediaType: f.MediaType}
	if err := c.Files.Put(ctx, o, bytes.NewReader(content)); err != nil {
		return problem.Unavailable.Wrap(err, "The file could not be stored. Try again in a few seconds.").After(2 * time.Second)
	}
	return nil
}

// deleteStoredFiles removes the objects that PutFile stored. If that fails, the cleaning of abandoned files removes them later.
func (c *Call) deleteStoredFiles(ctx context.Context) {
	if len(c.stored) == 0 {
		return
	}
	ctx, cancel := cleanupContext(ctx)
	defer cancel()
	if err := c.Files.Delete(ctx, c.stored...); err != nil {
		c.Log.WarnContext(ctx, "cannot delete files of a failed request; the next cleaning deletes them", "keys", c.stored, "error", err)
	}
	c.stored = nil
}

// cleanupTimeout bounds the time to clean up after a request.
const cleanupTimeout = 3 * time.Second

// cleanupContext returns a context for cleaning up after a request. It does not end with the context of the request.
func cleanupContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
}

// Charge adds the charge to the caller's usage in c.Tx. It returns a problem if the quotas do not allow the charge.
func (c *Call) Charge(ctx context.Context, ch record.Charge) error {
	g, err := c.Grants(ctx)
	if err != nil {
		return err
	}
	return c.Quotas.Take(ctx, c.Tx, c.Caller, g.Usage, ch)
}

// CheckNext returns a problem if the caller already has the greatest number of grants of the kind.
func (c *Call) CheckNext(ctx context.Context, kind record.GrantKind) error {
	g, err := c.Grants(ctx)
	if err != nil {
		return err
	}
	return kind.CheckNext(g)
}

// Account returns the account of a user. It adds its changes to c.Tx.
func (c *Call) Account(userID string) quota.Account {
	return quota.Account{Store: c.Store, Tx: c.Tx, Now: c.Now(), UserID: userID}
}

// Audit adds the entry of record.NewAudit to c.Tx, with the caller as actor, and charges the caller for it. Entries are kept, so the
// charge keeps repeated changes from filling the disk. Audit also stores the caller's profile, so that the entry can be shown with a name.
func (c *Call) Audit(ctx context.Context, of access.Scope, action, subject string, before, after any, users ...string) error {
	if err := c.AuditFree(ctx, of, action, subject, before, after, users...); err != nil {
		return err
	}
	return c.Charge(ctx, record.Charge{Kind: record.MadeAudits, Count: 1})
}

// AuditFree is like Audit but free of charge. It is for entries about resources that are created or deleted, whose number the quotas of
// those resources already bound.
func (c *Call) AuditFree(ctx context.Context, of access.Scope, action, subject string, before, after any, users ...string) error {
	c.Tx.Create(record.NewAudit(c.Now(), of, c.Caller.ID, action, subject, before, after, users...))
	return c.UpsertProfile(ctx)
}

// SetHeader sets a header of the answer.
func (c *Call) SetHeader(name, value string) { c.w.Header().Set(name, value) }
