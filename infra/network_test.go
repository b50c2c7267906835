package main

import (
	"slices"
	"testing"
)

func TestPortsOut_HaveThatOfTheIssuer(t *testing.T) {
	for issuer, want := range map[string][]float64{
		"": {443}, "https://login.example": {443}, "https://login.example:443/": {443}, "https://login.example:8443/realm": {443, 8443},
	} {
		st := &stack{settings: settings{Issuer: issuer}}
		if got := st.portsOut(); !slices.Equal(got, want) {
			t.Errorf("an issuer at %q is reached through %v", issuer, got)
		}
	}
}
