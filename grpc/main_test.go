package main

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/auth/devissuer"
	"assay/shared/edge/auth/devissuer/issuertest"
	"assay/shared/service/config"
	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/testing/waittest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// certificate creates a certificate for another name than this machine's.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"grpc.example.org"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	folder := t.TempDir()
	certFile = filepath.Join(folder, "cert.pem")
	keyFile = filepath.Join(folder, "key.pem")
	for name, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		must(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
	}
	return certFile, keyFile
}

// start serves over a new table until the test ends, and returns the address.
func start(t *testing.T, i *issuertest.Issuer, args ...string) string {
	t.Helper()
	return startOver(t, i, dynamotest.Start(t), dynamotest.TableName(), args...)
}

// startOver is like start, for a table with the name, which it creates.
func startOver(t *testing.T, i *issuertest.Issuer, cfg aws.Config, name string, args ...string) string {
	t.Helper()
	must(t, dynamo.New(cfg, name).CreateTable(t.Context()))
	setEnvironment(t, cfg)
	ctx, stop := context.WithCancel(context.Background())
	ended, ready := make(chan error, 1), make(chan string, 1)
	env := map[string]string{config.TableVariable: name, config.BucketVariable: "files", config.IssuerVariable: i.URL,
		config.AudienceVariable: "assay"}
	go func() {
		ended <- run(ctx, append([]string{"-addr", "127.0.0.1:0"}, args...), func(name string) string { return env[name] }, io.Discard,
			func(addr string) { ready <- addr })
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case addr := <-ready:
		return addr
	case err := <-ended:
		ended <- err
		t.Fatal(err)
		return ""
	}
}

// setEnvironment sets the environment variables of the AWS SDK.
func setEnvironment(t *testing.T, cfg aws.Config) {
	t.Helper()
	who, err := cfg.Credentials.Retrieve(t.Context())
	must(t, err)
	for variable, value := range map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB": *cfg.BaseEndpoint, "AWS_REGION": cfg.Region, "AWS_ACCESS_KEY_ID": who.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY": who.SecretAccessKey, "AWS_MAX_ATTEMPTS": "1",
		"AWS_ENDPOINT_URL_S3": cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), "http://127.0.0.1:1"), // the server starts without S3
	} {
		t.Setenv(variable, value)
	}
}

// awaitHealth waits until a check with these arguments succeeds.
func awaitHealth(t *testing.T, args ...string) {
	t.Helper()
	waittest.Succeed(t, "the server is healthy", func() error {
		return run(t.Context(), append(args, "-check"), func(string) string { return "" }, io.Discard, nil)
	})
}

func TestRun_ServesOverDynamoDB(t *testing.T) {
	i := issuertest.Start(t, "assay")
	addr := start(t, i)
	awaitHealth(t, "-addr", addr)
	awaitHealth(t, "-addr", addr, "-check-service", "assay.v1.WorkerService")
	if err := run(t.Context(), []string{"-addr", addr, "-check", "-check-service", "other"}, func(string) string { return "" }, io.Discard,
		nil); err == nil {
		t.Error("an unknown service is reported as healthy")
	}
	if err := run(t.Context(), []string{"-addr", "127.0.0.1:1", "-check"}, func(string) string { return "" }, io.Discard, nil); err == nil {
		t.Error("a missing server is reported as healthy")
	}
	lease(t, i, addr, insecure.NewCredentials())
}

// TestRun_RefusesATableWithoutAForm starts over a table with a record and without an identity.
func TestRun_RefusesATableWithoutAForm(t *testing.T) {
	db, name := dynamotest.Start(t), dynamotest.TableName()
	setEnvironment(t, db)
	table := dynamo.New(db, name)
	must(t, table.CreateTable(t.Context()))
	recordtest.New(t, table).User("ada")
	issuer := issuertest.Start(t, "assay")
	args := []string{"-addr", "127.0.0.1:0", "-issuer", issuer.URL, "-audience", "assay", "-table", name, "-bucket", "files"}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err := run(ctx, args, func(string) string { return "" }, t.Output(), func(string) { stop() })
	if !errors.Is(err, record.ErrOtherForm) {
		t.Error(err)
	}
}

func TestRun_ServesTLS(t *testing.T) {
	i := issuertest.Start(t, "assay")
	cert, key := certificate(t)
	addr := start(t, i, "-tls-cert", cert, "-tls-key", key)
	awaitHealth(t, "-addr", addr, "-tls-cert", cert, "-tls-key", key)
	other, otherKey := certificate(t)
	if err := run(t.Context(), []string{"-addr", addr, "-tls-cert", other, "-tls-key", otherKey, "-check"}, func(string) string { return "" },
		io.Discard, nil); err == nil {
		t.Error("a server with another certificate is reported as healthy")
	}
	pool := x509.NewCertPool()
	b, err := os.ReadFile(cert)
	if err != nil || !pool.AppendCertsFromPEM(b) {
		t.Fatal(err)
	}
	lease(t, i, addr, credentials.NewTLS(&tls.Config{RootCAs: pool, ServerName: "grpc.example.org", MinVersion: tls.VersionTLS12}))
}

// lease asks for work as a worker and as another user.
func lease(t *testing.T, i *issuertest.Issuer, addr string, secure credentials.TransportCredentials) {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(secure))
	must(t, err)
	defer func() { _ = conn.Close() }()
	for _, tt := range []struct {
		groups []string
		code   codes.Code
	}{{[]string{"workers"}, codes.OK}, {nil, codes.PermissionDenied}} {
		token, err := i.Token(devissuer.User{User: "w", Groups: tt.groups})
		must(t, err)
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
		out, err := assayv1.NewWorkerServiceClient(conn).Lease(ctx, &assayv1.LeaseRequest{Worker: "w"})
		if status.Code(err) != tt.code || out.GetWork() != nil {
			t.Errorf("with the groups %v: %v, %v", tt.groups, out, err)
		}
	}
}

func TestParse_NamesMissingFlags(t *testing.T) {
	for args, says := range map[string]string{
		"": "is needed", "-issuer x -audience y": "-bucket", "-addr x -check": "host:port", "-tls-cert x -check": "-tls-key",
		"-nothing": "nothing",
	} {
		if _, err := parse(strings.Fields(args), func(string) string { return "" }, io.Discard); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestRun_NamesTheIssuerOfTheDiscoveryDocument(t *testing.T) {
	i := issuertest.Start(t, "assay")
	args := []string{"-addr", "127.0.0.1:0", "-issuer", i.URL + "/", "-audience", "assay", "-table", "assay", "-bucket", "files"}
	err := run(t.Context(), args, func(string) string { return "" }, io.Discard, func(string) { t.Error("it serves") })
	if err == nil || !strings.Contains(err.Error(), strconv.Quote(i.URL)) {
		t.Errorf("%v, want %s in the error", err, i.URL)
	}
}

func TestRates_CountNoAddressThatIsABalancers(t *testing.T) {
	for _, c := range []struct {
		settings settings
		limited  bool
	}{{settings{}, false}, {settings{cert: "server.pem"}, true}, {settings{proxyHeader: "X-Forwarded-For"}, true}} {
		if got := c.settings.rates().Token.PerSecond > 0; got != c.limited {
			t.Errorf("%+v: tokens are limited by address: %t", c.settings, got)
		}
	}
}
