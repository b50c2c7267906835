// Command grpc is the gRPC server of a deployment, over DynamoDB and S3: workers lease runs from it, and programs watch runs.
// The local binary has the same server inside.
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
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"assay/grpc/server"
	"assay/shared/auth"
	"assay/shared/blob/s3"
	"assay/shared/quota"
	"assay/shared/store"
	"assay/shared/store/dynamo"

	aws "github.com/aws/aws-sdk-go-v2/config"
	_ "golang.org/x/crypto/x509roots/fallback" // an image from scratch has no certificates of authorities
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// Other processes, the functions, write to the table too, so it is polled.
const (
	queuePollInterval = 2 * time.Second
	watchPollInterval = time.Second
)

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

// run serves until ctx ends, or checks a server. Once it listens it calls ready, if that is not nil, with its address.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer, ready func(addr string)) error {
	c, err := parse(args, getenv, out)
	if err != nil {
		return err
	}
	if c.check {
		return check(ctx, c)
	}
	log := slog.New(slog.NewJSONHandler(out, nil))
	o := server.Options{Lease: server.DefaultLease, FirstLease: server.DefaultFirstLease, QueuePollInterval: queuePollInterval,
		WatchPollInterval: watchPollInterval, Reflection: c.reflection}
	if c.cert != "" {
		pair, err := tls.LoadX509KeyPair(c.cert, c.key)
		if err != nil {
			return fmt.Errorf("-tls-cert and -tls-key: %w", err)
		}
		o.Credentials = credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	}
	v, err := auth.New(auth.Config{Issuer: c.issuer, Audience: c.audience, Client: &http.Client{}})
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
	table := dynamo.New(cfg, c.table)
	s := server.New(server.Env{Store: quota.New(c.quotas).Count(table, time.Now), Quotas: c.quotas, Files: s3.New(cfg, c.bucket),
		Now: time.Now, Log: log, Verify: v.Caller}, o)
	table.OnChange = func(items []store.Item) { s.Changed(items) }
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

// check checks the health of the server at the address of the flags, on this machine.
func check(ctx context.Context, c settings) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	host, port, _ := net.SplitHostPort(c.addr)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // an image from scratch knows no localhost
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
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		return err
	}
	if answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("the server is %s", answer.GetStatus())
	}
	return nil
}

// trustOnly trusts exactly the certificate in the file, for any name: the server is on this machine.
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
