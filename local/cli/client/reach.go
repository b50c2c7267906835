package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"assay/shared/language/plural"

	"github.com/hashicorp/go-retryablehttp"
)

// Notify is called before each wait for another attempt, with the reason.
type Notify func(why string, wait time.Duration)

// fault says why a request got no answer of the server, in words of the user.
type fault struct {
	text  string
	final bool // waiting does not help
	cause error
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.cause }

// connecting is the longest time until a connection is made. Nobody listens at a wrong address whose network drops packets.
const connecting = 10 * time.Second

// patient returns a copy of a transport that waits at most silence for an answer, and names a proxy that refuses.
func patient(t http.RoundTripper) *http.Transport {
	own := t.(*http.Transport).Clone()
	own.DialContext = (&net.Dialer{Timeout: connecting}).DialContext
	own.ResponseHeaderTimeout = silence
	own.OnProxyConnectResponse = func(_ context.Context, proxy *url.URL, r *http.Request, res *http.Response) error {
		if res.StatusCode < 300 {
			return nil
		}
		return refusedBy(proxy, &url.URL{Scheme: "https", Host: r.Host}, res)
	}
	return own
}

// refusedBy returns the fault of a proxy that answered in place of the server.
func refusedBy(proxy, to *url.URL, res *http.Response) *fault {
	name := "a proxy"
	if proxy != nil {
		name = "the proxy " + proxy.Redacted()
	}
	if res.StatusCode == http.StatusProxyAuthRequired {
		return &fault{text: fmt.Sprintf("%s asks for a password (%s). Name it with both in %s_PROXY=http://USER:PASSWORD@HOST:PORT, or name %s "+
			"in NO_PROXY to go without it", name, res.Status, strings.ToUpper(to.Scheme), to.Hostname()), final: true}
	}
	return &fault{text: fmt.Sprintf("%s does not let it through (%s). %s", name, res.Status, proxyHint(to)), final: res.StatusCode < 500}
}

// proxyOf returns the proxy of a request, or nil.
func proxyOf(c *http.Client, r *http.Request) *url.URL {
	t, ok := c.Transport.(*http.Transport)
	if !ok || t.Proxy == nil {
		return nil
	}
	proxy, err := t.Proxy(r)
	if err != nil {
		return nil
	}
	return proxy
}

// faultOf returns the fault for the error of a request that got no answer.
func faultOf(err error, r *http.Request, proxy *url.URL) *fault {
	if known, ok := errors.AsType[*fault](err); ok {
		return known
	}
	f := &fault{text: textOf(err), cause: err}
	lookup, isLookup := errors.AsType[*net.DNSError](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	failure, isOperation := errors.AsType[*net.OpError](err)
	isHTTPS := proxy == nil && r.URL.Scheme == "http" && (isEnd(err) || isMalformed(err)) && speaksTLS(r.Context(), r.URL)
	switch {
	case isLookup && lookup.IsNotFound:
		f.text = "no computer has the name " + lookup.Name + ". Check the address"
		f.final = true
	case isHTTPS:
		return onlyHTTPS(r.URL.Host)
	case errors.Is(err, http.ErrSchemeMismatch):
		f.text = "it answers to http and not to https. Use http://" + r.URL.Host
		f.final = true
	case untrusted:
		f.text += ". SSL_CERT_FILE names a file with another authority's certificate"
		f.final = true
	case isOperation && failure.Op == remoteAlert:
		f.text = "it refuses to speak https (" + f.text + ")"
		f.final = true
	case noTLS:
		f.text = "it does not speak https there (" + f.text + ")"
		f.final = true
	case isMalformed(err):
		f.text = "the answer is not in HTTP. Check the address and its port"
		f.final = true
	case strings.Contains(f.text, "invalid proxy"), strings.Contains(f.text, "unsupported protocol scheme"):
		f.final = true
	}
	switch {
	case proxy == nil:
	case isOperation && failure.Op == "proxyconnect":
		f.text = fmt.Sprintf("the proxy %s is not reached: %s. %s", proxy.Redacted(), f.text, proxyHint(r.URL))
	case isEnd(err), isMalformed(err):
		f.text = fmt.Sprintf("the proxy %s gave no answer: %s. %s", proxy.Redacted(), textOf(err), proxyHint(r.URL))
	}
	return f
}

// proxyHint says which variables decide about the proxy of a request to a URL.
func proxyHint(to *url.URL) string {
	return strings.ToUpper(to.Scheme) + "_PROXY names the proxy, and NO_PROXY the servers that need none"
}

// onlyHTTPS returns the fault of a request over http to a host that answers only to https.
func onlyHTTPS(host string) *fault {
	return &fault{text: "it answers only to https. Use https://" + host, final: true}
}

// isEnd reports whether a connection ended before an answer.
func isEnd(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isMalformed reports whether an answer is not in HTTP. Package net/http has no type for these errors.
func isMalformed(err error) bool {
	text := err.Error()
	return strings.Contains(text, "malformed HTTP") || strings.Contains(text, "malformed MIME header")
}

// remoteAlert is the operation in the error of package tls for an alert of the other side.
const remoteAlert = "remote error"

// speaksTLS reports whether a port answers a handshake of TLS. Such a port may end a connection without TLS at once, without an answer.
func speaksTLS(ctx context.Context, to *url.URL) bool {
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: connecting}}
	ctx, stop := context.WithTimeout(ctx, connecting)
	defer stop()
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(to.Hostname(), cmp.Or(to.Port(), "80")))
	if err == nil {
		_ = connection.Close()
		return true
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	failure, isOperation := errors.AsType[*net.OpError](err)
	return untrusted || isOperation && failure.Op == remoteAlert
}

// textOf describes the cause of an error of the network.
func textOf(err error) string {
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case isEnd(err):
		return "the connection ended before an answer"
	case ok && timeout.Timeout():
		return "it did not answer in time"
	}
	if failure, ok := errors.AsType[*url.Error](err); ok {
		err = failure.Err // The error hides the URL, because everyone with a link can use it.
	}
	return err.Error()
}

// attempt is the state of one request during its attempts.
type attempt struct {
	client *Client
	to     *http.Request
	fault  *fault // of the latest attempt; nil if it had an answer
}

// do sends a request until it succeeds or waiting does not help.
func (c *Client) do(r *retryablehttp.Request) (*http.Response, error) {
	a := &attempt{client: c, to: r.Request}
	repeating := &retryablehttp.Client{HTTPClient: c.http, RetryMax: attempts - 1, RetryWaitMin: shortest, RetryWaitMax: longest,
		CheckRetry: a.mayPass, Backoff: a.backoff, ErrorHandler: retryablehttp.PassthroughErrorHandler}
	res, err := repeating.Do(r)
	if a.fault != nil && r.Context().Err() == nil {
		if res != nil {
			_ = res.Body.Close()
		}
		return nil, a.fault
	}
	return res, err
}

// mayPass reports whether the same request may succeed soon.
func (a *attempt) mayPass(ctx context.Context, res *http.Response, err error) (bool, error) {
	a.fault = nil
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	proxy := proxyOf(a.client.http, a.to)
	switch {
	case err != nil:
		a.fault = faultOf(err, a.to, proxy)
		return !a.fault.final, nil
	case res.StatusCode == http.StatusProxyAuthRequired:
		a.fault = refusedBy(proxy, a.to.URL, res)
		return false, nil
	}
	again, _ := retryablehttp.DefaultRetryPolicy(ctx, res, nil)
	return again && mayHeal(res), nil
}

// mayHeal reports whether an answer may be another one soon. Daily quotas ask for a longer wait than anybody waits.
func mayHeal(res *http.Response) bool {
	after, err := time.ParseDuration(res.Header.Get("Retry-After") + "s")
	return (err != nil || after <= longestAsk) && res.StatusCode != http.StatusInternalServerError
}

func (a *attempt) backoff(least, most time.Duration, n int, res *http.Response) time.Duration {
	wait := min(retryablehttp.DefaultBackoff(least, most, n, res), longestAsk) // A Retry-After with a date is not bounded.
	why := a.client.Base.Host + " does not answer"
	switch {
	case a.fault != nil:
		why = a.client.Base.Host + " cannot be reached: " + a.fault.text
	case res != nil && res.StatusCode == http.StatusTooManyRequests:
		why = "the server asks to wait"
	case res != nil:
		why = "the server answers " + res.Status
	}
	a.client.notify(why, wait)
	return wait
}

// withoutToken follows a redirect, for example to a result in the object store, without the token. net/http would send the token to another
// port of the same host. A redirect of the same page to https means that the user gave the wrong address.
func withoutToken(to *http.Request, via []*http.Request) error {
	to.Header.Del("Authorization")
	from := via[0].URL
	if from.Scheme == "http" && to.URL.Scheme == "https" && from.Hostname() == to.URL.Hostname() && from.Path == to.URL.Path {
		return onlyHTTPS(to.URL.Host)
	}
	if len(via) > attempts {
		return &fault{text: "it answered with " + plural.Count(len(via), "redirect"), final: true}
	}
	return nil
}
