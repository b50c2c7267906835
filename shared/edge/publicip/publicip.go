// Package publicip distinguishes public IP addresses from all others. Users choose the targets of some connections, such as those of
// webhooks and builds. Such connections are checked when they are dialled, so that nobody reaches private services through the platform.
package publicip

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrNotAllowed is the error for a name that resolves to an address that is not allowed.
var ErrNotAllowed = errors.New("the address is not allowed")

// Dialer returns a dialer that connects only to allowed addresses. It checks addresses after resolving names, so a name cannot bypass
// the check.
func Dialer(timeout time.Duration, allowed func(netip.Addr) bool) *net.Dialer {
	return &net.Dialer{Timeout: timeout, Control: func(_, address string, _ syscall.RawConn) error {
		if a, err := netip.ParseAddrPort(address); err != nil || !allowed(a.Addr()) {
			return ErrNotAllowed
		}
		return nil
	}}
}

// Within returns a function that reports whether an address is in one of the networks.
func Within(networks []netip.Prefix) func(netip.Addr) bool {
	return func(a netip.Addr) bool {
		return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
	}
}

// reservedRanges lists ranges without public servers, beyond those that netip knows.
var reservedRanges = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
}

// globalUnicast excludes IPv6 addresses that map to IPv4 addresses, such as those of NAT64.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// Is reports whether an address is public and belongs to another machine.
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
