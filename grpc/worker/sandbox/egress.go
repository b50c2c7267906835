package sandbox

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

// egress is an HTTP proxy to public addresses. It is the only way out of a build, whose network has nothing but itself: there is
// no route, no other protocol and no name service to misuse. Addresses are checked when they are dialled, after the name
// was resolved, so that no name leads elsewhere.
type egress struct {
	allowed func(netip.AddrPort) bool
	slots   chan struct{} // one for each request
	forward httputil.ReverseProxy
	dialer  net.Dialer
}

const (
	dialTime    = 20 * time.Second
	egressIdle  = 5 * time.Minute // without a byte, after which a connection is closed
	egressMost  = 64              // requests at once
	maxHeader   = 64 << 10
	proxyListen = "127.0.0.1:3128"
)

var errNotPublic = errors.New("the address is not public")

func newEgress(allowed func(netip.AddrPort) bool) *egress {
	e := &egress{allowed: allowed, slots: make(chan struct{}, egressMost)}
	e.dialer = net.Dialer{Timeout: dialTime, Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil || !e.allowed(a) {
			return errNotPublic
		}
		return nil
	}}
	e.forward = httputil.ReverseProxy{
		Rewrite:      func(*httputil.ProxyRequest) {}, // the request names its host itself
		Transport:    &http.Transport{DialContext: e.dialer.DialContext, ResponseHeaderTimeout: egressIdle, DisableKeepAlives: true, DisableCompression: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { refuse(w) },
	}
	return e
}

// refuse answers in the same words whatever the reason: what there is in the worker's network shows in none of them.
func refuse(w http.ResponseWriter) {
	http.Error(w, "There is no public server at this address that answers.", http.StatusForbidden)
}

// ServeHTTP implements http.Handler.
func (e *egress) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-r.Context().Done():
		return
	}
	switch {
	case r.Method == http.MethodConnect:
		e.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		e.forward.ServeHTTP(w, r)
	default:
		http.Error(w, "This is a proxy for HTTP.", http.StatusBadRequest)
	}
}

func (e *egress) tunnel(w http.ResponseWriter, r *http.Request) {
	to, err := e.dialer.DialContext(r.Context(), "tcp", r.Host)
	if err != nil {
		refuse(w)
		return
	}
	defer func() { _ = to.Close() }()
	from, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = from.Close() }()
	if _, err := from.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return
	}
	var both sync.WaitGroup
	relay := func(dst net.Conn, src io.Reader) {
		_, _ = io.Copy(&idle{dst}, src) // either end may close it
		_ = dst.Close()
	}
	both.Go(func() { relay(to, buffered) })
	relay(from, to)
	both.Wait()
}

// idle closes a connection through which nothing went for long.
type idle struct{ net.Conn }

// Write implements io.Writer.
func (i *idle) Write(b []byte) (int, error) {
	if err := i.SetDeadline(time.Now().Add(egressIdle)); err != nil {
		return 0, err
	}
	return i.Conn.Write(b)
}

// serve serves the listener until it is shut.
func (e *egress) serve(l net.Listener) (shut func()) {
	server := &http.Server{Handler: e, ReadHeaderTimeout: dialTime, IdleTimeout: egressIdle, MaxHeaderBytes: maxHeader}
	ctx, end := context.WithCancel(context.Background())
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	go func() { _ = server.Serve(l) }()
	return func() {
		end()
		_ = server.Close()
	}
}

// reserved are the ranges that no public server has, in addition to those that netip names.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
}

var global = netip.MustParsePrefix("2000::/3")

// public reports whether an address is of a public server that is not this machine.
func public(to netip.AddrPort) bool {
	a := to.Addr().Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !global.Contains(a) || slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return false
	}
	own, err := net.InterfaceAddrs()
	return err == nil && !slices.ContainsFunc(own, func(o net.Addr) bool {
		p, err := netip.ParsePrefix(o.String())
		return err != nil || p.Addr().Unmap() == a
	})
}
