package publicip_test

import (
	"net"
	"net/netip"
	"testing"

	"assay/shared/edge/publicip"
)

func TestIs_RefusesOtherAddresses(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	refused := []string{
		"127.0.0.1", "127.1.2.3", "::1", "0.0.0.0", "0.1.2.3", "::", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
		"fe80::1", "fd00::1",
		"100.64.0.1", "192.0.0.170", "198.18.0.1", "224.0.0.1", "239.1.1.1", "255.255.255.255", "240.0.0.1", "ff02::1", "::ffff:10.0.0.1",
		"::ffff:127.0.0.1",
		"64:ff9b::a00:1", "64:ff9b:1::a00:1", "2002:a00:1::", "2001::1", "2001:db8::1", "203.0.113.1", "::10.0.0.1", "fec0::1",
	}
	for _, a := range own {
		refused = append(refused, netip.MustParsePrefix(a.String()).Addr().String())
	}
	for _, a := range refused {
		if publicip.Is(netip.MustParseAddr(a)) {
			t.Errorf("%s is taken for public", a)
		}
	}
	for _, a := range []string{"8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8"} {
		if !publicip.Is(netip.MustParseAddr(a)) {
			t.Errorf("%s is not taken for public", a)
		}
	}
}
