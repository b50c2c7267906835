// Package publicip tells public addresses of IP from all others. Connections that others choose the target of, such as those of webhooks
// and of builds, are checked with it when they are dialled, so that nobody reaches private services through the platform.
package publicip

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrNotAllowed says that a name leads to an address that is not allowed.
var ErrNotAllowed = errors.New("the address is not allowed")

// Dialer dials allowed addresses alone. It checks them after names are resolved, so that no name leads elsewhere.
func Dialer(timeout time.Duration, allowed func(netip.Addr) bool) *net.Dialer {
	return &net.Dialer{Timeout: timeout, Control: func(_, address string, _ syscall.RawConn) error {
		if a, err := netip.ParseAddrPort(address); err != nil || !allowed(a.Addr()) {
			return ErrNotAllowed
		}
		return nil
	}}
}

// reservedRanges have no public servers, in addition to the ranges that netip knows.
var reservedRanges = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
}

// globalUnicast has no addresses that stand for ones of IPv4, such as those of NAT64.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// Is reports whether an address is public and not of this machine.
func Is(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !globalUnicast.Contains(a) ||
		slices.ContainsFunc(reservedRanges, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return false
	}
	own, err := net.InterfaceAddrs()
	return err == nil && !slices.ContainsFunc(own, func(o net.Addr) bool {
		p, err := netip.ParsePrefix(o.String())
		return err != nil || p.Addr().Unmap() == a
	})
}
