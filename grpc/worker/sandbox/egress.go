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

	"golang.org/x/net/netutil"
)

const (
	dialTime    = 20 * time.Second
	egressMost  = 64 // connections at once
	maxHeader   = 64 << 10
	proxyListen = "127.0.0.1:3128"
)

var errNotPublic = errors.New("the address is not public")

// egress is an HTTP proxy to the addresses that are allowed. It is the only way out of a build, whose network has nothing but
// itself: there is no route, no other protocol and no name service to misuse. Addresses are checked when they are dialled, after
// the name was resolved, so that no name leads elsewhere. Nothing of it outlives the container, at whose end its connections end.
func egress(allowed func(netip.AddrPort) bool) http.Handler {
	dialer := &net.Dialer{Timeout: dialTime, Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil || !allowed(a) {
			return errNotPublic
		}
		return nil
	}}
	forward := &httputil.ReverseProxy{
		Rewrite:      func(*httputil.ProxyRequest) {}, // the request names its host itself
		Transport:    &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, DisableCompression: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { refuse(w) },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			forward.ServeHTTP(w, r)
			return
		}
		to, err := dialer.DialContext(r.Context(), "tcp", r.Host)
		if err != nil {
			refuse(w)
			return
		}
		tunnel(w, to)
	})
}

// refuse answers in the same words whatever the reason: what there is in the worker's network shows in none of them.
func refuse(w http.ResponseWriter) {
	http.Error(w, "There is no public server at this address that answers.", http.StatusForbidden)
}

// tunnel copies between the caller and a connection until either closes.
func tunnel(w http.ResponseWriter, to net.Conn) {
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
		_, _ = io.Copy(dst, src) // either end may close it
		_ = dst.Close()
	}
	both.Go(func() { relay(to, buffered) })
	relay(from, to)
	both.Wait()
}

// serve serves the handler until it is shut.
func serve(l net.Listener, h http.Handler) (shut func()) {
	ctx, end := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: dialTime, IdleTimeout: dialTime, MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { _ = server.Serve(netutil.LimitListener(l, egressMost)) }()
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
