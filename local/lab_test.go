package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/edge/api"
)

// labFile reads a file of the example in lab/README.md.
func labFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("lab", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// only returns the text of the pattern's group in the file. All matches must have the same text.
func only(t *testing.T, name, pattern string) string {
	t.Helper()
	var found []string
	for _, m := range regexp.MustCompile(`(?m)`+pattern).FindAllStringSubmatch(labFile(t, name), -1) {
		if !slices.Contains(found, m[1]) {
			found = append(found, m[1])
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %q for %s, want one", name, found, pattern)
	}
	return found[0]
}

var variable = regexp.MustCompile(`(?m)^ *([A-Z_]+)(?:=|: )'?"?([^"'\n]*)`)

// variables returns the variables that an environment file or a service in compose.yaml sets.
func variables(text string) map[string]string {
	all := map[string]string{}
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		all[m[1]] = m[2]
	}
	return all
}

// composed returns the section of a service in compose.yaml.
func composed(t *testing.T, service string) string {
	t.Helper()
	_, of, ok := strings.Cut(labFile(t, "compose.yaml"), "\n  "+service+":\n    ")
	of, _, ends := strings.Cut(of, "\n\n")
	if !ok || !ends {
		t.Fatalf("compose.yaml has no service %s", service)
	}
	return of
}

// settingsIn returns the settings of a server with the variables. Each variable must belong to a flag.
func settingsIn(t *testing.T, args []string, env map[string]string) settings {
	t.Helper()
	var help bytes.Buffer
	if _, err := parse([]string{"-h"}, func(string) string { return "" }, &help); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	for name := range env {
		if of := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "ASSAY_"), "_", "-")); !strings.Contains(help.String(), "  -"+of) {
			t.Errorf("%s is no flag", name)
		}
	}
	c, err := parse(args, func(name string) string { return env[name] }, &help)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestLab_FilesFitEachOther checks that proxy, issuer and server of the lab have matching addresses, as systemd services and in containers.
func TestLab_FilesFitEachOther(t *testing.T) {
	unit := strings.Fields(only(t, "assay.service", `^ExecStart=/usr/local/bin/assay-server (.*)$`))
	if _, _, ok := commandOf(unit[0]); !ok {
		t.Errorf("assay.service starts %q, which is no command", unit)
	}
	env := variables(labFile(t, "assay.env"))
	native := settingsIn(t, unit[1:], env)
	for name, value := range variables(composed(t, "assay")) {
		env[name] = value
	}
	contained := settingsIn(t, nil, env)

	domain := only(t, "Caddyfile", `^([a-z.]+) \{$`)
	for _, same := range [][2]string{
		{native.url, "https://" + domain},
		{only(t, "compose.yaml", `- "(.*):host-gateway"`), domain},
		{only(t, "Caddyfile", `^(\S+):\d+ \{$`), domain},

		{only(t, "dex.yaml", `^issuer: (.*)$`), native.issuer},
		{only(t, "dex.yaml", `- id: (.*)$`), native.audience},
		{only(t, "dex.yaml", `- (https:.*/console)$`), native.url + "/console"},
		{only(t, "dex-connectors.yaml", `redirectURI: (.*)`), native.issuer + "/callback"},
		{only(t, "Caddyfile", `handle (/\S+)/\*`), strings.TrimPrefix(native.issuer, native.url)},

		{only(t, "Caddyfile", `ASSAY_UPSTREAM:(.*)\}`), native.addr},
		{only(t, "Caddyfile", `h2c://\{\$GRPC_UPSTREAM:(.*)\}`), native.grpc},
		{only(t, "Caddyfile", `DEX_UPSTREAM:(.*)\}`), only(t, "dex.yaml", `^  http: (.*)$`)},

		{only(t, "compose.yaml", `ASSAY_UPSTREAM: assay(:\d+)`), contained.addr},
		{only(t, "compose.yaml", `GRPC_UPSTREAM: assay(:\d+)`), contained.grpc},
		{only(t, "compose.yaml", `DEX_UPSTREAM: dex(:\d+)`), only(t, "compose.yaml", `--web-http-addr=0\.0\.0\.0(:\d+)`)},
		{only(t, "compose.yaml", `- data:(.*)$`), contained.data},
		{only(t, "compose.yaml", `- accounts:(.*)$`), only(t, "compose.yaml", `DEX_FOLDER: (.*)$`)},

		{native.data, "/var/lib/" + only(t, "assay.service", `^StateDirectory=(\S+) `)},
		{only(t, "assay-backup.service", `-in (/var/lib/\S+)`), "/var/lib/" + only(t, "assay.service", `^StateDirectory=\S+ (\S+)$`)},
		{only(t, "dex.env", `DEX_FOLDER=(.*)$`), "/var/lib/" + only(t, "dex.service", `^StateDirectory=(.*)$`)},
	} {
		if same[0] != same[1] {
			t.Errorf("%q and %q should be the same", same[0], same[1])
		}
	}
	if native.proxyHeader == "" || native.demo || native.allowDevIssuer {
		t.Errorf("not for a public address: %+v", native)
	}
	secrets := variables(labFile(t, "dex.env"))
	for _, name := range []string{"dex.yaml", "dex-connectors.yaml"} {
		for _, m := range regexp.MustCompile(`\$([A-Z_]+)`).FindAllStringSubmatch(labFile(t, name), -1) {
			if _, ok := secrets[m[1]]; !ok {
				t.Errorf("%s needs %s, which dex.env has not", name, m[1])
			}
		}
	}
	if !slices.ContainsFunc(functions.Operations(), func(o api.Operation) bool { return o.Path == "/console" }) {
		t.Error("dex.yaml returns to /console, where there is nothing")
	}
}
