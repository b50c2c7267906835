package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"assay/functions"
	"assay/functions/background"
	"assay/functions/background/evaluator"
	"assay/functions/notifier"
	"assay/grpc/ops"
	"assay/grpc/server"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/auth"
	"assay/shared/edge/auth/devissuer"
	"assay/shared/edge/mail"
	"assay/shared/edge/ratelimit"
	"assay/shared/edge/webpage/resource"
	"assay/shared/language/buildinfo"
	"assay/shared/language/metrics"
	"assay/shared/service/files"
	"assay/shared/service/health"
	"assay/shared/service/quota"
	"assay/shared/storage/blob"
	"assay/shared/storage/blob/directory"
	"assay/shared/storage/store"
)

// Time-outs of the HTTP server. Transfers of files extend their own deadlines as long as they make progress.
const (
	headerTime   = 10 * time.Second
	requestTime  = 60 * time.Second
	idleTime     = 2 * time.Minute
	shutdownTime = 20 * time.Second
	maxHeaders   = 2 * api.MaxHeaderBytes // also bounds the request line, and lets the API refuse larger headers itself
)

// Names in the folder of the data, besides the table.
const (
	filesFolder  = "files"
	devIssuerKey = "dev-issuer.key"
)

// run serves until ctx ends. It calls ready when the server accepts connections.
func run(ctx context.Context, c settings, out, logs io.Writer, ready func(*program)) error {
	if c.keepsFolder() {
		if err := os.MkdirAll(c.data, 0o700); err != nil {
			return fmt.Errorf("the folder of the data: %w", err)
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.addr)
	if err != nil {
		return fmt.Errorf("%w; choose another address with -addr", err)
	}
	c.url = cmp.Or(c.url, "http://"+listener.Addr().String())
	p, err := newProgram(ctx, c, logs)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer p.close()
	p.listener, p.evaluator.Holder = listener, holder(listener.Addr())
	if c.grpc != "" {
		if p.grpcListener, err = new(net.ListenConfig).Listen(ctx, "tcp", c.grpc); err != nil {
			return errors.Join(fmt.Errorf("%w; choose another address with -grpc-addr, or none with -grpc-addr ''", err), listener.Close())
		}
	}
	if c.ops != "" {
		untilEnd, end := context.WithCancel(context.WithoutCancel(ctx))
		defer end()
		if p.opsAddr, err = ops.Serve(untilEnd, c.ops, p.exporter.Handler(p.ready(ctx))); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	return p.serve(ctx, out, ready)
}

// program is the server with all its parts.
type program struct {
	settings
	table *table
	files blob.Store
	env   *api.Env
	id    identity
	log   *slog.Logger

	evaluator  *evaluator.Worker
	background *background.Worker
	news       *notifier.Worker

	directory   *directory.Store // store of the files; nil if they are in S3, and then
	poller      *files.Poller    // looks for uploads, and
	filesOrigin string           // is the origin of signed links

	health   *health.Monitor
	metrics  metrics.Recorder // records in exporter, or nil
	exporter *ops.Exporter    // exports metrics, or nil
	opsAddr  net.Addr         // address of the exporter

	grpc                   *server.Server // serves on grpcListener, unless this is nil
	listener, grpcListener net.Listener
}

func newProgram(ctx context.Context, c settings, logs io.Writer) (*program, error) {
	p := &program{settings: c, log: newLog(c.log, logs)}
	p.log.InfoContext(ctx, "assay-server starts", "version", buildinfo.Version, "commit", buildinfo.Commit(), "schema", record.Schema,
		"digest", record.Digest)
	p.evaluator = &evaluator.Worker{Now: c.now, Log: p.log}
	p.background = background.New(nil, nil, c.now, p.log)
	p.news = notifier.New(nil, c.now, p.log)
	p.news.URL = c.url
	p.news.WebhookNetworks = c.networks
	var err error
	if c.smtp != "" {
		if p.news.Mail, err = mail.SMTP(c.smtp, c.mailFrom); err != nil {
			return nil, fmt.Errorf("-smtp, -mail-from: %w", err)
		}
	}
	if p.table, err = openTable(ctx, c, p.changed); err != nil {
		return nil, err
	}
	quotas, err := quota.Parse(c.defaultQuotas(), c.quotas)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("-quotas: %w", err), p.table.close())
	}
	ledger := quota.New(quotas, p.table.Store, c.now)
	p.table.Store = ledger.Store()
	if c.ops != "" {
		p.exporter = ops.New(p.recordGauges)
		p.metrics = p.exporter.Record
	}
	if err := p.openFiles(ctx); err != nil {
		return nil, errors.Join(err, p.table.close())
	}
	p.health = &health.Monitor{Objects: p.files, Folders: c.folders(), Log: p.log}
	rates, err := ratelimit.Parse(c.rates)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("-rates: %w", err), p.table.close())
	}
	limiter := ratelimit.New(rates, c.proxyHeader)
	if p.id, err = newIdentity(ctx, c, p.table, limiter); err != nil {
		return nil, errors.Join(err, p.table.close())
	}
	p.env = &api.Env{
		Store: p.table, Boards: p.table.boards, Files: p.files, Now: c.now, Log: p.log, Verify: p.id.verify, Quotas: ledger,
		Origins: strings.Split(c.origins, ","), Info: api.BuildInfo(p.id.Issuer), Endpoints: p.id.Endpoints,
		Rates: limiter, RenderHTML: resource.Render, Metrics: p.metrics, Health: p.health,
		Alone: p.table.embedded != nil,
	}
	p.env.Info.URL = c.url
	p.env.Info.ClientID = c.clientID
	p.env.Info.Mail = p.news.Mail != nil
	p.env.Info.WebhookNetworks = c.networks
	p.env.Info.FilesOrigin = p.filesOrigin
	if p.env.Info.Commit == "" { // Sources can change between two calls of go run.
		p.env.Info.Build = p.env.Now().String()
	}
	p.evaluator.Store = p.table
	p.evaluator.Files = p.files
	p.evaluator.Metrics = p.metrics
	p.background.Store = p.table
	p.background.Files = p.files
	p.background.Metrics = p.metrics
	p.news.Store = p.table
	p.grpc = server.New(server.Env{Store: p.table, Files: p.files, Now: p.env.Now, Log: p.log, Verify: p.id.verify, Quotas: quotas,
		Metrics: p.metrics}, c.grpcOptions())
	if err := p.claimFiles(ctx); err != nil {
		return nil, errors.Join(err, p.table.close())
	}
	return p, nil
}

// holder returns the name of the server in leases. No other server that runs at the same time has this name. After a restart the server has
// the same name, so that it continues the leases of the ended process at once.
func holder(addr net.Addr) string {
	host, err := os.Hostname()
	if err != nil {
		host = "local"
	}
	return host + " " + addr.String()
}

// changed notifies the evaluator, the background worker, the notifier and the gRPC server of written items.
func (p *program) changed(items []store.Item) {
	p.evaluator.Changed(items)
	p.background.Changed(items)
	p.news.Changed(items)
	p.grpc.Changed(items)
}

// grpcOptions returns the options of the gRPC server. The embedded store reports every change, so that polling is only a fallback.
func (c *settings) grpcOptions() server.Options {
	o := server.Options{Lease: c.lease, FirstLease: c.firstLease, QueuePollInterval: 15 * time.Second, Reflection: true,
		ProxyHeader: c.proxyHeader}
	if c.store == storeDynamoDB {
		o.QueuePollInterval = 2 * time.Second
	}
	return o
}

// handler serves the operations, the signed links and the development issuer.
func (p *program) handler() http.Handler {
	s := api.New(p.env, functions.Operations())
	if p.directory != nil {
		h := p.directory.Handler(p.uploads().Complete, p.uploads().Expected, s.Fail)
		s.Mount("/files/", http.StripPrefix("/files/", h), true, http.MethodGet, http.MethodHead, http.MethodPut)
	}
	if p.id.dev != nil {
		// Pages of other origins must not get tokens. Otherwise they could act as any user on the machine of their reader.
		s.Mount("/dev/", p.id.dev.Handler(s.Fail), false, http.MethodGet, http.MethodHead, http.MethodPost)
	}
	return s
}

func (p *program) serve(ctx context.Context, out io.Writer, ready func(*program)) error {
	web := &http.Server{
		Handler: p.handler(), ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, WriteTimeout: requestTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders, ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	failed := make(chan error, 2)
	go func() { failed <- web.Serve(p.listener) }()
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	var worked sync.WaitGroup
	worked.Go(func() { p.evaluator.Run(work) })
	worked.Go(func() { p.background.Run(work) })
	worked.Go(func() { p.news.Run(work) })
	if p.poller != nil {
		worked.Go(func() { p.poller.Run(work) })
	}
	grpcCtx, stopGRPC := context.WithCancel(ctx)
	defer stopGRPC()
	if p.grpcListener != nil {
		worked.Go(func() {
			if err := p.grpc.Serve(grpcCtx, p.grpcListener); err != nil {
				failed <- err
			}
		})
	}
	if p.table.embedded != nil && p.directory != nil {
		p.serveBackups(work)
	}
	p.printGreeting(ctx, out)
	ready(p)
	var err error
	select {
	case <-ctx.Done():
		_, _ = fmt.Fprintln(out, "Stopping. Started again, the server goes on where it is now.")
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()
		err = web.Shutdown(grace)
	case err = <-failed:
	}
	stopWork()
	stopGRPC()
	worked.Wait()
	return err
}

// printGreeting fills an empty store with the demo and prints commands to try.
func (p *program) printGreeting(ctx context.Context, out io.Writer) {
	printf := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	printf("Assay serves %s, which is a page in a browser (the API is described at %[1]s/docs); its data are in %s.", p.url, p.dataLocation())
	if p.grpcListener != nil {
		printf("Workers and watchers reach it by gRPC at %s.", p.grpcListener.Addr())
	}
	if p.id.dev != nil {
		printf("Anyone who can reach it gets a token for any user: curl -s --json '{\"user\":\"alice\"}' %s/dev/token", p.url)
	}
	printf("%s", p.mailNotice())
	if !p.demo {
		return
	}
	d, err := p.fillDemo(ctx)
	if err != nil {
		p.log.Error("the demo task could not be made", "error", err)
		return
	}
	if d == nil {
		return
	}
	printf("\nA demo task is there. Try:")
	printf("  curl -sg '%s%s'", p.url, d.task)
	printf("  curl -sg '%s%s'", p.url, d.leaderboard)
	printf("  curl -sg -H 'Accept: text/csv' '%s%s'", p.url, d.leaderboard)
	if p.store == storeEmbedded && p.directory != nil {
		printf("To start clean, stop the server and remove the folder %s; -demo=false leaves the demo out.", p.data)
	}
}

// mailNotice describes which addresses of users the server accepts.
func (p *program) mailNotice() string {
	addresses := "addresses that tokens say are confirmed (email_verified is true)"
	if p.verifiesEmail {
		addresses = "addresses of which no token says that they are not confirmed (-issuer-verifies-email)"
	}
	if p.news.Mail == nil {
		return "No e-mails are sent, because -smtp is not set. Organizers are shown " + addresses + "."
	}
	return "E-mails go to " + addresses + ", and organizers are shown only these."
}

// dataLocation names the folder, or the table and the bucket, of the data.
func (p *program) dataLocation() string {
	if p.store == storeEmbedded && p.directory != nil {
		return p.data
	}
	location := p.data
	if p.directory == nil {
		location = "S3's bucket " + p.bucket
	}
	return p.table.displayName + ", the files in " + location
}

func (p *program) close() {
	if err := p.env.Quotas.Flush(context.Background()); err != nil {
		p.log.Warn("the quotas of the server lack the usage of the last seconds", "error", err)
	}
	if err := p.table.close(); err != nil {
		p.log.Error("the table could not be closed", "error", err)
	}
}

// audience is the audience of tokens from the development issuer.
const audience = "assay"

// identity verifies the tokens of the issuer that the server trusts.
type identity struct {
	*auth.Verifier
	verify func(ctx context.Context, token string) (access.Caller, error) // also verifies access tokens
	dev    *devissuer.Issuer                                              // nil unless the development issuer is on
}

// newIdentity trusts the issuer of the flags or, without one, a development issuer at the server's URL. Tokens of both are verified in the
// same way. Access tokens are in the store.
func newIdentity(ctx context.Context, c settings, tokens store.Store, rates *ratelimit.Limiter) (id identity, err error) {
	trust := auth.Config{Issuer: c.issuer, Audience: c.audience, VerifiesEmail: c.verifiesEmail}
	if c.issuer == "" {
		keyFile := "" // Without a file, tokens end with the process.
		if c.keepsFolder() {
			keyFile = filepath.Join(c.data, devIssuerKey)
		}
		trust = auth.Config{Issuer: c.url + "/dev", Audience: audience}
		if id.dev, err = devissuer.Open(keyFile, trust.Issuer, trust.Audience); err != nil {
			return id, err
		}
		trust.Transport = id.dev
	}
	if id.Verifier, err = auth.New(trust); err != nil {
		return id, err
	}
	id.verify = auth.NewAuthenticator(id.Caller, tokens, c.now, rates).Caller
	err = id.CheckIssuer(ctx)
	return id, err
}

// defaultQuotas returns the default quotas. If the files are in a folder, all users together get at most three quarters of its disk, and
// one user at most a quarter of this.
func (c *settings) defaultQuotas() record.Quotas {
	q := record.DefaultQuotas()
	if c.filesIn != filesDirectory {
		return q
	}
	if _, disk, err := diskSpace(c.data); err == nil && disk > 0 {
		q.Server.StoredBytes = min(q.Server.StoredBytes, disk/4*3)
		q.User.StoredBytes = min(q.User.StoredBytes, q.Server.StoredBytes/4)
	}
	return q
}
