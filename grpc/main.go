// Command grpc is the gRPC server of a deployment with DynamoDB and S3. Workers lease runs from it, and programs watch runs. The server
// binary contains the same gRPC server.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"assay/grpc/ops"
	"assay/grpc/server"
	"assay/shared/domain/record"
	"assay/shared/edge/auth"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/buildinfo"
	"assay/shared/language/metrics"
	"assay/shared/language/wait"
	"assay/shared/service/config"
	"assay/shared/service/files"
	"assay/shared/service/quota"
	"assay/shared/storage/blob/s3"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo"

	aws "github.com/aws/aws-sdk-go-v2/config"
	_ "golang.org/x/crypto/x509roots/fallback" // an image from scratch has no certificates of authorities
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// The server polls the table, because other processes, such as the functions, write to it too.
const queuePollInterval = 2 * time.Second

// containerVariable is set in containers of ECS, whose log CloudWatch converts to metrics.
const containerVariable = "AWS_EXECUTION_ENV"

// checkTimeout bounds a health check.
const checkTimeout = 4 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, nil)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "assay-grpc:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, or checks a running server. It calls ready, unless that is nil, with the address on which it listens.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer, ready func(addr string)) error {
	c, err := parse(args, getenv, out)
	if err != nil {
		return err
	}
	if c.check {
		return check(ctx, c)
	}
	log := slog.New(slog.NewJSONHandler(out, nil))
	log.InfoContext(ctx, "assay-grpc starts", "version", buildinfo.Version, "commit", buildinfo.Commit(), "schema", record.Schema, "digest",
		record.Digest)
	o := server.Options{Lease: server.DefaultLease, FirstLease: server.DefaultFirstLease, QueuePollInterval: queuePollInterval,
		Reflection: c.reflection, ProxyHeader: c.proxyHeader}
	if c.cert != "" {
		pair, err := tls.LoadX509KeyPair(c.cert, c.key)
		if err != nil {
			return fmt.Errorf("-tls-cert and -tls-key: %w", err)
		}
		o.Credentials = credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	}
	v, err := auth.New(auth.Config{Issuer: c.issuer, Audience: c.audience})
	if err != nil {
		return err
	}
	if err := v.CheckIssuer(ctx); err != nil {
		return err
	}
	cfg, err := aws.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("the AWS SDK's environment: %w", err)
	}
	table, bucket := dynamo.New(cfg, c.table), s3.New(cfg, c.bucket)
	if c.filesURL != "" {
		bucket = bucket.LinkTo(c.filesURL)
	}
	if err := checkStores(ctx, table, bucket); errors.Is(err, files.ErrOtherTable) || errors.Is(err, record.ErrOtherForm) {
		return err
	} else if err != nil {
		log.WarnContext(ctx, "cannot check the table and the bucket", "error", err)
	}
	var s *server.Server
	exporter := ops.New(func(ctx context.Context, r metrics.Recorder) error { return s.RecordMetrics(ctx, r) })
	var cloudWatch metrics.Recorder
	if getenv(containerVariable) != "" {
		cloudWatch = metrics.CloudWatch(log, c.table, time.Now)
	}
	recordMetric := func(m *metrics.Metric, value float64, labels ...string) {
		exporter.Record(m, value, labels...)
		cloudWatch.Record(m, value, labels...)
	}
	s = server.New(server.Env{Metrics: recordMetric, Store: quota.New(c.quotas, table, time.Now).Store(), Quotas: c.quotas,
		Files: files.Observed{Store: bucket, Metrics: recordMetric},
		Now:   time.Now, Log: log, Verify: auth.NewAuthenticator(v.Caller, table, time.Now, ratelimit.New(c.rates(), "")).Caller}, o)
	table.OnChange = func(items []store.Item) { s.Changed(items) }
	if cloudWatch != nil {
		go wait.Every(ctx, time.Minute, func() {
			if err := s.RecordMetrics(ctx, cloudWatch); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "cannot record metrics of waiting runs", "error", err)
			}
		})
	}
	if c.ops != "" {
		if _, err := ops.Serve(ctx, c.ops, exporter.Handler(table.Ping)); err != nil {
			return err
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.addr)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "serving", "addr", l.Addr().String(), "tls", c.cert != "")
	if ready != nil {
		ready(l.Addr().String())
	}
	return s.Serve(ctx, l)
}

// checkStores returns record.ErrOtherForm or files.ErrOtherTable if the server must not use the table or the bucket. On AWS the server has
// no right to scan a table; there, npm run deploy refuses tables without an identity.
func checkStores(ctx context.Context, table *dynamo.Store, bucket *s3.Store) error {
	if err := files.CheckForm(ctx, table); err != nil {
		return err
	}
	return files.CheckClaim(ctx, table, bucket)
}

// check checks the health of the server at the address in the flags, on this machine.
func check(ctx context.Context, c settings) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	host, port, _ := net.SplitHostPort(c.addr)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // an image from scratch cannot resolve localhost
	}
	secure := insecure.NewCredentials()
	if c.cert != "" {
		pem, err := os.ReadFile(c.cert)
		if err != nil {
			return err
		}
		secure = credentials.NewTLS(trustOnly(pem))
	}
	conn, err := grpc.NewClient(net.JoinHostPort(host, port), grpc.WithTransportCredentials(secure))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: c.checkService})
	if err != nil {
		return err
	}
	if answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("the server is %s", answer.GetStatus())
	}
	return nil
}

// trustOnly returns a TLS configuration that trusts exactly the given certificate, for any name. The name does not matter, because the
// server runs on this machine.
func trustOnly(pem []byte) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the certificate with the file instead
		VerifyConnection: func(s tls.ConnectionState) error {
			intermediates := x509.NewCertPool()
			for _, c := range s.PeerCertificates {
				intermediates.AddCert(c)
			}
			_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, Intermediates: intermediates})
			return err
		},
	}
}

// settings are the parsed flags.
type settings struct {
	addr, ops        string
	issuer, audience string
	table, bucket    string
	filesURL         string
	cert, key        string
	reflection       bool
	check            bool
	checkService     string
	proxyHeader      string
	quotas           record.Quotas
}

// rates returns the rate limits of callers. Without a certificate, the server is behind a load balancer that ends TLS. If the balancer
// does not pass on the addresses of callers, all callers have the same address, and a limit for that address would let one caller block
// all others. Then there are no limits.
func (c *settings) rates() ratelimit.Rates {
	if c.cert == "" && c.proxyHeader == "" {
		return ratelimit.Rates{}
	}
	return ratelimit.Distributed()
}

func parse(args []string, getenv func(string) string, out io.Writer) (settings, error) {
	var c settings
	f := flag.NewFlagSet("assay-grpc", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&c.addr, "addr", ":50052", "address to serve on")
	f.StringVar(&c.ops, "ops-addr", "",
		"address to serve metrics (/metrics), profiles, /live and /ready on, to everyone who reaches it: of a private network; empty: none")
	f.StringVar(&c.issuer, "issuer", "", "OpenID Connect issuer to trust")
	f.StringVar(&c.audience, "audience", "", "audience that the issuer's tokens must have")
	f.StringVar(&c.table, "table", "assay", "name of DynamoDB's table; the AWS SDK's own environment says where it is")
	f.StringVar(&c.bucket, "bucket", "", "name of S3's bucket")
	f.StringVar(&c.filesURL, "files-url", "", "URL at which clients reach S3, when it is another one than this server's")
	f.StringVar(&c.cert, "tls-cert", "",
		"file with the server's certificate in PEM; without one the server speaks plain text, for a balancer that ends TLS in front of it")
	f.StringVar(&c.key, "tls-key", "", "file with the certificate's key in PEM")
	f.BoolVar(&c.reflection, "reflection", true, "serve reflection, which grpcurl uses")
	f.BoolVar(&c.check, "check", false, "check the health of the server at the address, and exit with 0 when it serves")
	f.StringVar(&c.checkService, "check-service", "",
		"what -check asks: empty whether the server is alive, assay.v1.WorkerService whether it is ready, with a store that answers")
	f.StringVar(&c.proxyHeader, "trusted-proxy-header", "",
		"header whose last address is where a call came from, such as X-Forwarded-For; give it only behind a proxy that sets it")
	quotas := f.String("quotas", "", "quotas of users and of the server in JSON, as /info shows them, where they are to differ")
	err := config.ParseFlags(f, config.Prefix, args, getenv)
	if err != nil {
		return c, err
	}
	if c.quotas, err = quota.Parse(record.DefaultQuotas(), *quotas); err != nil {
		return c, fmt.Errorf("-quotas: %w", err)
	}
	if c.filesURL, err = config.BaseURL("files-url", c.filesURL); err != nil {
		return c, err
	}
	if (c.cert == "") != (c.key == "") {
		return c, errors.New("-tls-cert and -tls-key go together")
	}
	if _, _, err := net.SplitHostPort(c.addr); err != nil {
		return c, fmt.Errorf("-addr %q is not host:port: %w", c.addr, err)
	}
	if c.check {
		return c, nil
	}
	for name, value := range map[string]string{"-issuer": c.issuer, "-audience": c.audience, "-bucket": c.bucket} {
		if value == "" {
			return c, fmt.Errorf("%s is needed; -h lists the flags", name)
		}
	}
	return c, nil
}
