package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/buildinfo"
	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/dynamo/dynamotest"
)

// TestVersion_IsNamedEverywhere: the command, GET /info and the first line of the log name the build and the form of its records.
func TestVersion_IsNamedEverywhere(t *testing.T) {
	var log bytes.Buffer
	s, end, err := begin(settingsOf(t, t.TempDir(), "-demo=false"), &log)
	if err != nil {
		t.Fatal(err)
	}
	info := s.object(t, "", http.MethodGet, "/info", nil)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if info["version"] != buildinfo.Version || info["schema"] != float64(record.Schema) || info["schemaDigest"] != record.Digest {
		t.Errorf("GET /info says %v, %v, %v", info["version"], info["schema"], info["schemaDigest"])
	}
	first, _, _ := strings.Cut(log.String(), "\n")
	for _, named := range []string{
		"version=" + buildinfo.Version, "commit=" + buildinfo.Commit(), fmt.Sprint("schema=", record.Schema), "digest=" + record.Digest,
	} {
		if !strings.Contains(first, named) {
			t.Errorf("the log does not begin with %s: %s", named, first)
		}
	}
	out := mustRun(t, "version")
	for _, named := range []string{buildinfo.Version, buildinfo.Commit(), fmt.Sprint("schema ", record.Schema), "digest " + record.Digest} {
		if !strings.Contains(out, named) {
			t.Errorf("version does not name %q: %s", named, out)
		}
	}
}

// TestCheck_NamesAnEmptyTable runs the command as a deployment to AWS does.
func TestCheck_NamesAnEmptyTable(t *testing.T) {
	name := dynamotest.TableName()
	table := dynamo.New(startDynamoDB(t), name)
	if err := table.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	flags := []string{"check", "-store", storeDynamoDB, "-table", name}
	mustRun(t, flags...)
	named := recordtest.Get[record.TableIdentity](t, table, record.TableIdentityKey())
	if named == nil || named.Digest != record.Digest {
		t.Fatalf("the table names %+v", named)
	}
	mustRun(t, flags...)
}
