package config_test

import (
	"flag"
	"io"
	"strings"
	"testing"

	"assay/shared/service/config"
)

func TestParseFlags_FlagOverridesVariable(t *testing.T) {
	for _, tt := range []struct {
		args, env string // env: value of ASSAY_TLS_CERT
		want, err string
	}{
		{"", "", "none", ""},
		{"", "b", "b", ""},
		{"-tls-cert a", "b", "a", ""},
		{"-tls-cert a more", "", "", `"more"`},
		{"-other a", "", "", "other"},
	} {
		f := flag.NewFlagSet("test", flag.ContinueOnError)
		f.SetOutput(io.Discard)
		got := f.String("tls-cert", "none", "usage")
		err := config.ParseFlags(f, config.Prefix, strings.Fields(tt.args), func(name string) string {
			return map[string]string{"ASSAY_TLS_CERT": tt.env}[name]
		})
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		if err != nil || *got != tt.want || !strings.Contains(f.Lookup("tls-cert").Usage, "ASSAY_TLS_CERT") {
			t.Errorf("%+v: %q, %v", tt, *got, err)
		}
	}
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	f.Int("n", 0, "")
	if err := config.ParseFlags(f, "", nil, func(string) string { return "x" }); err == nil || !strings.Contains(err.Error(), "N:") {
		t.Errorf("a variable that is no number: %v", err)
	}
}
