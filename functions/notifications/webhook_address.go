package notifications

import (
	"net/netip"
	"net/url"

	"assay/shared/edge/publicip"
	"assay/shared/language/problem"
)

// checkAddress refuses an address of a webhook that no event can ever reach, as long as the server allows only these networks besides
// public addresses. The addresses of host names are not known before an attempt, whose delivery then tells.
func checkAddress(address string, networks []netip.Prefix) error {
	u, err := url.Parse(address)
	if err != nil {
		return problem.InvalidMember("/url", "is no URL")
	}
	inNetworks := publicip.Within(networks)
	ip, err := netip.ParseAddr(u.Hostname())
	literal := err == nil
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return problem.InvalidMember("/url", "must begin with https://")
	case literal && inNetworks(ip), !literal && u.Scheme == "http" && len(networks) > 0:
		return nil
	case u.Scheme == "http":
		return problem.InvalidMember("/url", "must begin with https://, because this server sends no events to that host over http. "+
			"The operator of the server can allow other networks")
	case literal && !publicip.Is(ip):
		return problem.InvalidMember("/url", "has the address %s, to which this server sends no events because it is not public. "+
			"The operator of the server can allow other networks", ip)
	}
	return nil
}
