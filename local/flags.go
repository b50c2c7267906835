package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"assay/grpc/server"
	"assay/shared/service/config"
)

// settings holds the values of the flags.
type settings struct {
	addr           string
	grpc           string // address of gRPC; empty: not served
	ops            string // address of metrics and profiles; empty: not served
	url            string // URL of the server for clients; empty: addr
	data           string
	demo           bool
	store          string
	table          string
	createTable    bool
	filesIn        string
	bucket         string
	createBucket   bool
	filesURL       string // URL of the bucket's server for clients; empty: the same as for this server
	issuer         string
	audience       string
	verifiesEmail  bool // the issuer verifies addresses, although its tokens do not say so
	clientID       string
	allowDevIssuer bool
	origins        string
	rates          string
	proxyHeader    string
	quotas         string
	smtp, mailFrom string         // server and sender of e-mails; empty: no e-mails
	networks       []netip.Prefix // private networks that webhooks may be sent to
	log            string

	// No flag sets the clock and the leases of workers.
	now               func() time.Time
	lease, firstLease time.Duration
}

// parse reads the flags. The default of each flag is its environment variable ASSAY_<NAME>.
func parse(args []string, getenv func(string) string, out io.Writer) (settings, error) {
	c := settings{now: time.Now, lease: server.DefaultLease, firstLease: server.DefaultFirstLease}
	f := flag.NewFlagSet("assay-server", flag.ContinueOnError)
	f.SetOutput(out)
	f.Usage = func() {
		printCommands(out)
		_, _ = fmt.Fprint(out, "\nFlags of serve:\n")
		f.PrintDefaults()
	}
	f.StringVar(&c.addr, "addr", "127.0.0.1:8080", "address to serve HTTP on")
	f.StringVar(&c.grpc, "grpc-addr", "127.0.0.1:50052", "address to serve gRPC on, for workers and watchers; empty: none")
	f.StringVar(&c.ops, "ops-addr", "",
		"address to serve metrics (/metrics), profiles, /live and /ready on, to everyone who reaches it: of a private network; empty: none")
	f.StringVar(&c.url, "public-url", "", "URL at which clients reach the server, when it is not that address")
	c.storeFlags(f)
	f.BoolVar(&c.demo, "demo", true, "fill an empty store with a small public task")
	f.StringVar(&c.filesURL, "files-url", "", "URL at which clients reach S3, when it is another one than this server's")
	f.StringVar(&c.issuer, "issuer", "", "OpenID Connect issuer to trust; empty: the development issuer")
	f.StringVar(&c.audience, "audience", "", "audience that the issuer's tokens must have")
	f.StringVar(&c.clientID, "client-id", "",
		"public client of the issuer that may return to /console, where people sign in; also the audience unless that is given")
	f.BoolVar(&c.verifiesEmail, "issuer-verifies-email", false,
		"the issuer confirms that an e-mail address is the user's before it puts it into a token, also where the claim email_verified is missing")
	f.BoolVar(&c.allowDevIssuer, "allow-dev-issuer", false,
		"give tokens to everyone who asks, also to other machines: for closed networks only")
	f.StringVar(&c.origins, "origins", "*", "origins of web pages that may call the API, separated by commas; * is all")
	f.StringVar(&c.log, "log", logShort, "form of the log: short, for a terminal, or json, with everything")
	f.StringVar(&c.quotas, "quotas", "",
		`quotas of users and of the server in JSON, as /info shows them, where they are to differ: {"user":{"perDay":{"tasks":500}}}`)
	f.StringVar(&c.smtp, "smtp", "",
		"server that e-mails are sent by, such as smtp://user:password@lab.example:587, or smtps:// for TLS from the start; empty: none is sent")
	f.StringVar(&c.mailFrom, "mail-from", "", "sender of e-mails, such as Assay <assay@lab.example>; needed with -smtp")
	f.Func("webhook-networks", "networks that are not public and that webhooks may be sent to, also over http, such as 10.0.0.0/8,fd00::/8",
		c.setNetworks)
	f.StringVar(&c.rates, "rates", "",
		`limits of callers in JSON, as /info shows them, where they are to differ: {"tool":{"perSecond":5,"burst":20}}`)
	f.StringVar(&c.proxyHeader, "trusted-proxy-header", "",
		"header whose last address is where a request or a call of gRPC came from, such as X-Forwarded-For; give it only behind a proxy "+
			"that sets it")
	if err := config.ParseFlags(f, config.Prefix, args, getenv); err != nil {
		return c, err
	}
	c.audience = cmp.Or(c.audience, c.clientID)
	err := c.check()
	return c, err
}

// storeFlags declares the flags for the places of the table and the files.
func (c *settings) storeFlags(f *flag.FlagSet) {
	f.StringVar(&c.data, "data", "data", "folder of the table and the files, as far as they are here; remove it to start clean")
	f.StringVar(&c.store, "store", storeEmbedded,
		"where the table is: embedded in the folder of the data, or dynamodb, as the AWS SDK's own environment says")
	f.StringVar(&c.table, "table", "assay", "name of DynamoDB's table")
	f.BoolVar(&c.createTable, "create-table", false, "make DynamoDB's table when it is missing")
	f.StringVar(&c.filesIn, "files", filesDirectory,
		"where the files are: directory, in the folder of the data, or s3, as the AWS SDK's own environment says")
	f.StringVar(&c.bucket, "bucket", "", "name of S3's bucket")
	f.BoolVar(&c.createBucket, "create-bucket", false, "make S3's bucket when it is missing")
}

// keepsFolder reports whether the table or the files are in the folder of the data.
func (c *settings) keepsFolder() bool { return c.store == storeEmbedded || c.filesIn == filesDirectory }

// checkStore checks the flags of storeFlags.
func (c *settings) checkStore() error {
	if c.store != storeEmbedded && c.store != storeDynamoDB {
		return fmt.Errorf("-store %q is neither %s nor %s", c.store, storeEmbedded, storeDynamoDB)
	}
	if c.filesIn != filesDirectory && c.filesIn != filesS3 {
		return fmt.Errorf("-files %q is neither %s nor %s", c.filesIn, filesDirectory, filesS3)
	}
	if c.filesIn == filesS3 && c.bucket == "" {
		return errors.New("-files s3 needs -bucket")
	}
	return nil
}

func (c *settings) check() error {
	if err := c.checkStore(); err != nil {
		return err
	}
	if c.log != logShort && c.log != logJSON {
		return fmt.Errorf("-log %q is neither %s nor %s", c.log, logShort, logJSON)
	}
	if (c.smtp == "") != (c.mailFrom == "") {
		return errors.New("-smtp and -mail-from are given together, or neither is")
	}
	open, err := c.reachable()
	if err != nil {
		return err
	}
	if c.url, err = config.BaseURL("public-url", c.url); err != nil {
		return err
	}
	if c.filesURL, err = config.BaseURL("files-url", c.filesURL); err != nil {
		return err
	}
	if c.issuer != "" {
		if c.audience == "" {
			return errors.New("-issuer needs -audience or -client-id: without it, tokens that the issuer made for other services would be accepted")
		}
		return nil
	}
	if c.verifiesEmail {
		return errors.New("-issuer-verifies-email needs -issuer: the development issuer says of each address that it is confirmed")
	}
	if c.clientID != "" {
		return errors.New("-client-id needs -issuer: the development issuer has no clients")
	}
	if open != "" && !c.allowDevIssuer {
		return fmt.Errorf("%s can be reached from other machines, and the development issuer would let anyone there be anyone: give -issuer "+
			"and -audience, or -allow-dev-issuer on a closed network", open)
	}
	return nil
}

func (c *settings) setNetworks(list string) error {
	c.networks = nil // The flag replaces its environment variable.
	for s := range strings.SplitSeq(list, ",") {
		n, err := netip.ParsePrefix(strings.TrimSpace(s))
		if err != nil {
			return err
		}
		c.networks = append(c.networks, n)
	}
	return nil
}

// reachable returns the name of a flag whose address other machines can reach, or an empty string.
func (c *settings) reachable() (open string, err error) {
	for _, f := range []struct{ name, addr string }{{"-grpc-addr", c.grpc}, {"-addr", c.addr}} {
		if f.name == "-grpc-addr" && f.addr == "" {
			continue
		}
		host, _, err := net.SplitHostPort(f.addr)
		if err != nil {
			return "", fmt.Errorf("%s %q is not host:port: %w", f.name, f.addr, err)
		}
		if !config.Loopback(host) {
			open = f.name + " " + f.addr
		}
	}
	return open, nil
}
