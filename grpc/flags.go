package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"

	"assay/shared/config"
	"assay/shared/quota"
	"assay/shared/record"
)

// settings are those of the flags.
type settings struct {
	addr             string
	issuer, audience string
	table, bucket    string
	cert, key        string
	reflection       bool
	check            bool
	quotas           record.Quotas
}

func parse(args []string, getenv func(string) string, out io.Writer) (settings, error) {
	var c settings
	f := flag.NewFlagSet("assay-grpc", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&c.addr, "addr", ":50052", "address to serve on")
	f.StringVar(&c.issuer, "issuer", "", "OpenID Connect issuer to trust")
	f.StringVar(&c.audience, "audience", "", "audience that the issuer's tokens must have")
	f.StringVar(&c.table, "table", "assay", "name of DynamoDB's table; the AWS SDK's own environment says where it is")
	f.StringVar(&c.bucket, "bucket", "", "name of S3's bucket")
	f.StringVar(&c.cert, "tls-cert", "",
		"file with the server's certificate in PEM; without one the server speaks plain text, for a balancer that ends TLS in front of it")
	f.StringVar(&c.key, "tls-key", "", "file with the certificate's key in PEM")
	f.BoolVar(&c.reflection, "reflection", true, "serve reflection, which grpcurl uses")
	f.BoolVar(&c.check, "check", false, "check the health of the server at the address, and exit with 0 when it serves")
	quotas := f.String("quotas", "", "quotas of users and of the server in JSON, as /info shows them, where they are to differ")
	err := config.ParseFlags(f, config.Prefix, args, getenv)
	if err != nil {
		return c, err
	}
	if c.quotas, err = quota.Parse(record.DefaultQuotas(), *quotas); err != nil {
		return c, fmt.Errorf("-quotas: %w", err)
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
