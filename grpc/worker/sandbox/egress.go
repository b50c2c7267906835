package sandbox

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync"
	"time"

	"assay/shared/edge/publicip"

	"golang.org/x/net/netutil"
)

const (
	dialTimeout          = 20 * time.Second
	maxEgressConnections = 64 // concurrent connections
	maxHeader            = 64 << 10
	proxyListen          = "127.0.0.1:3128"
)

// egress returns an HTTP proxy to the allowed addresses. It is the only way out of a build's network, which has neither routes nor a
// name service. All its connections end with the container.
func egress(allowed func(netip.Addr) bool) http.Handler {
	dialer := publicip.Dialer(dialTimeout, allowed)
	forward := &httputil.ReverseProxy{
		Rewrite:      func(*httputil.ProxyRequest) {}, // proxy requests contain the host
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

// refuse answers all failures equally, so that the answer reveals nothing about the worker's network.
func refuse(w http.ResponseWriter) {
	http.Error(w, "There is no public server at this address that answers.", http.StatusForbidden)
}

// tunnel copies bytes between the caller and the connection until either side closes.
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
		_, _ = io.Copy(dst, src) // either side may close the connection
		_ = dst.Close()
	}
	both.Go(func() { relay(to, buffered) })
	relay(from, to)
	both.Wait()
}

// serve serves the handler until stop is called.
func serve(l net.Listener, h http.Handler) (stop func()) {
	ctx, end := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: dialTimeout, IdleTimeout: dialTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { _ = server.Serve(netutil.LimitListener(l, maxEgressConnections)) }()
	return func() {
		end()
		_ = server.Close()
	}
}
