package notifications

import (
	"net/netip"
	"net/url"

	"assay/shared/edge/publicip"
	"assay/shared/language/problem"
)

// checkAddress refuses a webhook whose address no event can reach. networks are the networks that the server allows besides public
// addresses. A host name is not resolved, because its addresses can change until an event is sent.
func checkAddress(address string, networks []netip.Prefix) error {
	u, err := url.Parse(address)
	if err != nil {
		return problem.InvalidMember("/url", "must be a URL")
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
