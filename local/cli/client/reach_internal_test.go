package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
)

// reach sends a request to a server, through a proxy unless this is empty. It returns the reasons of waits and the error. The first wait
// ends the request.
func reach(t *testing.T, server, proxy string) (waits []string, err error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	c := clientOf(t, server, proxy, func(why string, _ time.Duration) {
		waits = append(waits, why)
		stop()
	})
	_, err = c.Do(ctx, Request{Method: http.MethodGet, Path: "/info"})
	return waits, err
}

func clientOf(t *testing.T, server, proxy string, notify Notify) *Client {
	t.Helper()
	c := New(parsed(t, server), "test", notify)
	c.http.Transport.(*http.Transport).DialContext = resolving
	if proxy != "" {
		c.http.Transport.(*http.Transport).Proxy = http.ProxyURL(parsed(t, proxy))
	}
	return c
}

// resolving connects to addresses. It knows no host whose name ends in .invalid, without asking a name server.
func resolving(ctx context.Context, network, address string) (net.Conn, error) {
	if host, _, _ := net.SplitHostPort(address); strings.HasSuffix(host, ".invalid") {
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// free returns an address at which nobody listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// port returns the address of a port that answers each connection by the function. The connection ends with it.
func port(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			answer(c)
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// saying returns the address of a port that reads something, and answers each connection with a text.
func saying(t *testing.T, text string) string {
	t.Helper()
	return port(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1<<10))
		_, _ = c.Write([]byte(text))
	})
}

// secureOnly returns the address of a port that speaks TLS. It answers everything else with a text, and ends the connection.
func secureOnly(t *testing.T, text string) string {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	return port(t, func(c net.Conn) {
		first := make([]byte, 1<<10)
		n, _ := c.Read(first)
		const handshake = 0x16 // the type of the first record of TLS
		if first[0] != handshake {
			_, _ = c.Write([]byte(text))
			return
		}
		to, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			return
		}
		defer func() { _ = to.Close() }()
		_, _ = to.Write(first[:n])
		go func() { _, _ = io.Copy(to, c) }()
		_, _ = io.Copy(c, to)
	})
}

// TestDo_EndsWhereWaitingDoesNotHelp reaches servers by wrong addresses and through proxies that refuse.
func TestDo_EndsWhereWaitingDoesNotHelp(t *testing.T) {
	answers := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, status) }
	}
	plain := httptest.NewServer(answers(http.StatusOK, "{}"))
	defer plain.Close()
	secure := httptest.NewTLSServer(answers(http.StatusOK, "{}"))
	defer secure.Close()
	secure.Config.ErrorLog = nil
	toHTTPS := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+r.Host+r.URL.Path, http.StatusMovedPermanently)
	}))
	defer toHTTPS.Close()
	asking := httptest.NewServer(answers(http.StatusProxyAuthRequired, "who are you?"))
	defer asking.Close()
	forbidding := httptest.NewServer(answers(http.StatusForbidden, "no"))
	defer forbidding.Close()
	https := func(of string) string { return strings.Replace(of, "http:", "https:", 1) }
	proxy := strings.Replace(asking.URL, "//", "//ada:secret@", 1)
	silent := secureOnly(t, "")
	alerting := secureOnly(t, "\x15\x03\x01\x00\x02\x02\x50")
	saying407 := "http://" + saying(t, "HTTP/1.1 407\r\n\r\n")
	mumbling := "http://" + saying(t, "HTTP/1.1 407Who\r\n\r\n")
	refusing := saying(t, "\x15\x03\x01\x00\x02\x02\x28")
	const lake, noHost = "https://lake.example", "no computer has the name "
	for name, c := range map[string]struct{ server, proxy, want string }{
		"no such host":         {"https://lake.invalid", "", noHost + "lake.invalid. Check the address"},
		"https of http":        {https(plain.URL), "", "it answers to http and not to https. Use " + plain.URL},
		"http of https":        {strings.Replace(secure.URL, "https:", "http:", 1), "", "Use " + secure.URL},
		"http of silent https": {"http://" + silent, "", "it answers only to https. Use https://" + silent},
		"http of an alert":     {"http://" + alerting, "", "it answers only to https. Use https://" + alerting},
		"an alert":             {"https://" + refusing, "", "it refuses to speak https (remote error: tls: handshake failure)"},
		"no HTTP":              {"http://" + saying(t, "220 mail\r\n"), "", "the answer is not in HTTP. Check the address and its port"},
		"http that redirects":  {toHTTPS.URL, "", "it answers only to https. Use " + https(toHTTPS.URL)},
		"an unknown authority": {secure.URL, "", "SSL_CERT_FILE names a file"},
		"a proxy that asks": {lake, proxy,
			"the proxy http://ada:xxxxx@" + asking.Listener.Addr().String() + " asks for a password (407"},
		"a proxy that asks, http": {"http://lake.example", asking.URL,
			"the proxy " + asking.URL + " asks for a password (407 Proxy Authentication Required). Name it with both in " +
				"HTTP_PROXY=http://USER:PASSWORD@HOST:PORT, or name lake.example in NO_PROXY"},
		"a proxy without words":      {lake, saying407, "the proxy " + saying407 + " asks for a password (407"},
		"a proxy that mumbles":       {lake, mumbling, "the proxy " + mumbling + " gave no answer: malformed HTTP "},
		"a proxy that mumbles, http": {"http://lake.example", mumbling, "the proxy " + mumbling + " gave no answer: "},
		"a proxy that forbids":       {lake, forbidding.URL, "the proxy " + forbidding.URL + " does not let it through (403 Forbidden)"},
		"a proxy without host": {lake, "http://proxy.invalid:3128",
			"the proxy http://proxy.invalid:3128 is not reached: " + noHost + "proxy.invalid"},
	} {
		waits, err := reach(t, c.server, c.proxy)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error is %v, want %s", name, err, c.want)
		}
		if len(waits) > 0 {
			t.Errorf("%s: it waits because %s", name, waits)
		}
	}
}

// TestDo_SaysWhyItWaits reaches servers and proxies that may answer later.
func TestDo_SaysWhyItWaits(t *testing.T) {
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer busy.Close()
	nobody, mute := "http://"+free(t), "http://"+saying(t, "")
	for name, c := range map[string]struct{ server, proxy, want string }{
		"nobody listens":      {nobody, "", "cannot be reached: the connection was refused"},
		"a proxy that is off": {"https://lake.example", nobody, "the proxy " + nobody + " is not reached: the connection was refused"},
		"a server that ends":  {"http://" + saying(t, ""), "", "cannot be reached: the connection ended before an answer"},
		"a proxy that ends":   {"https://lake.example", mute, "the proxy " + mute + " gave no answer: the connection ended before an answer"},
		"a busy server":       {busy.URL, "", "the server answers 502 Bad Gateway"},
		"a busy proxy":        {"https://lake.example", busy.URL, "the proxy " + busy.URL + " does not let it through (502 Bad Gateway)"},
	} {
		waits, err := reach(t, c.server, c.proxy)
		if !errors.Is(err, context.Canceled) || len(waits) != 1 || !strings.Contains(waits[0], c.want) {
			t.Errorf("%s: it waits because %q and ends with %v, want %q", name, waits, err, c.want)
		}
	}
}

// TestSend_SaysWhyItWaits uploads a file to stores that are away, busy, or refuse it.
func TestSend_SaysWhyItWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.txt")
	if err := os.WriteFile(path, []byte("1 Q0 lake 1 2.0 ada\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	usual := objects.Transport
	defer func() { objects.Transport = usual }()
	own := patient(usual)
	own.DialContext = resolving
	objects.Transport = own
	status := http.StatusOK
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer store.Close()
	for _, c := range []struct {
		url    string
		status int
		wait   string // the reason of the first wait; empty: it ends at once
		err    string
	}{
		{store.URL, http.StatusServiceUnavailable, "run.txt did not pass: the store answered 503", "canceled"},
		{store.URL, http.StatusForbidden, "the store answered 403", "canceled"}, // The link has expired.
		{store.URL, http.StatusRequestEntityTooLarge, "", "the store answered 413 Request Entity Too Large"},
		{store.URL, http.StatusProxyAuthRequired, "", "asks for a password (407"},
		{"http://" + free(t), 0, "cannot be reached: the connection was refused", "canceled"},
		{"http://lake.invalid", 0, "", "no computer has the name lake.invalid"},
		{"https://" + strings.TrimPrefix(store.URL, "http://"), 0, "", "it answers to http and not to https"},
	} {
		status = c.status
		ctx, stop := context.WithCancel(t.Context())
		var waits []string
		sender := clientOf(t, store.URL, "", func(why string, _ time.Duration) {
			waits = append(waits, why)
			stop()
		})
		link := func(context.Context) (*record.Upload, error) {
			return &record.Upload{URL: c.url + "/file?signature=secret"}, nil
		}
		err := sender.Send(ctx, path, link, func(string, int64, int64) {})
		stop()
		if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(fmt.Sprint(err, waits), "secret") {
			t.Errorf("%+v: the error is %v", c, err)
		}
		if (len(waits) > 0) != (c.wait != "") || len(waits) > 0 && !strings.Contains(waits[0], c.wait) {
			t.Errorf("%+v: it waits because %q", c, waits)
		}
	}
}
