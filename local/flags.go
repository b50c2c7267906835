package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"assay/grpc/server"
	"assay/shared/config"
)

// settings is what the flags say.
type settings struct {
	addr           string
	grpc           string // where gRPC is served; empty: nowhere
	url            string // where clients reach the server; empty: at addr
	data           string
	demo           bool
	store          string
	table          string
	createTable    bool
	issuer         string
	audience       string
	allowDevIssuer bool
	origins        string
	rates          string
	proxyHeader    string
	quotas         string
	log            string

	// No flag sets the clock and the leases of workers.
	now               func() time.Time
	lease, firstLease time.Duration
}

// parse reads the flags; each takes its default from its environment twin ASSAY_<NAME>.
func parse(args []string, getenv func(string) string, out io.Writer) (settings, error) {
	c := settings{now: time.Now, lease: server.DefaultLease, firstLease: server.DefaultFirstLease}
	f := flag.NewFlagSet("assay", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&c.addr, "addr", "127.0.0.1:8080", "address to serve HTTP on")
	f.StringVar(&c.grpc, "grpc-addr", "127.0.0.1:50052", "address to serve gRPC on, for workers and watchers; empty: none")
	f.StringVar(&c.url, "public-url", "", "URL at which clients reach the server, when it is not that address")
	f.StringVar(&c.data, "data", "data", "folder of the table and the files; remove it to start clean")
	f.BoolVar(&c.demo, "demo", true, "fill an empty store with a small public task")
	f.StringVar(&c.store, "store", storeEmbedded,
		"where the table is: embedded in the folder of the data, or dynamodb, as the AWS SDK's own environment says")
	f.StringVar(&c.table, "table", "assay", "name of DynamoDB's table")
	f.BoolVar(&c.createTable, "create-table", false, "make DynamoDB's table when it is missing")
	f.StringVar(&c.issuer, "issuer", "", "OpenID Connect issuer to trust; empty: the development issuer")
	f.StringVar(&c.audience, "audience", "", "audience that the issuer's tokens must have")
	f.BoolVar(&c.allowDevIssuer, "allow-dev-issuer", false,
		"give tokens to everyone who asks, also to other machines: for closed networks only")
	f.StringVar(&c.origins, "origins", "*", "origins of web pages that may call the API, separated by commas; * is all")
	f.StringVar(&c.log, "log", logShort, "form of the log: short, for a terminal, or json, with everything")
	f.StringVar(&c.quotas, "quotas", "",
		`quotas of users and of the server in JSON, as /info shows them, where they are to differ: {"user":{"perDay":{"tasks":500}}}`)
	f.StringVar(&c.rates, "rates", "",
		`limits of callers in JSON, as /info shows them, where they are to differ: {"tool":{"perSecond":5,"burst":20}}`)
	f.StringVar(&c.proxyHeader, "trusted-proxy-header", "",
		"header whose last address is where a request came from, such as X-Forwarded-For; give it only behind a proxy that sets it")
	if err := config.ParseFlags(f, config.Prefix, args, getenv); err != nil {
		return c, err
	}
	err := c.check()
	return c, err
}

func (c *settings) check() error {
	if c.store != storeEmbedded && c.store != storeDynamoDB {
		return fmt.Errorf("-store %q is neither %s nor %s", c.store, storeEmbedded, storeDynamoDB)
	}
	if c.log != logShort && c.log != logJSON {
		return fmt.Errorf("-log %q is neither %s nor %s", c.log, logShort, logJSON)
	}
	open, err := c.reachable()
	if err != nil {
		return err
	}
	if c.url != "" {
		if u, err := url.Parse(c.url); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
			strings.Trim(u.Path, "/") != "" {
			return fmt.Errorf("-public-url %q is not an http or https URL without a path", c.url)
		}
		c.url = strings.TrimRight(c.url, "/")
	}
	if c.issuer != "" {
		if c.audience == "" {
			return errors.New("-issuer needs -audience: without it, tokens that the issuer made for other services would be accepted")
		}
		return nil
	}
	if open != "" && !c.allowDevIssuer {
		return fmt.Errorf("%s can be reached from other machines, and the development issuer would let anyone there be anyone: give -issuer "+
			"and -audience, or -allow-dev-issuer on a closed network", open)
	}
	return nil
}

// reachable returns the flag with an address that other machines reach; empty when there is none.
func (c *settings) reachable() (open string, err error) {
	for _, f := range []struct{ name, addr string }{{"-grpc-addr", c.grpc}, {"-addr", c.addr}} {
		if f.name == "-grpc-addr" && f.addr == "" {
			continue
		}
		host, _, err := net.SplitHostPort(f.addr)
		if err != nil {
			return "", fmt.Errorf("%s %q is not host:port: %w", f.name, f.addr, err)
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			open = f.name + " " + f.addr
		}
	}
	return open, nil
}
