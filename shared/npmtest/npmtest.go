// Package npmtest finds for tests what npm has installed in infra, such as a server that speaks DynamoDB's protocol.
package npmtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Path is where a file of a package is, whether or not it is installed. The elements are the package's name and the path
// within it.
func Path(t testing.TB, elements ...string) string {
	t.Helper()
	return filepath.Join(append([]string{root(t), "infra", "node_modules"}, elements...)...)
}

// root is the folder of the module.
func root(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
	}
	t.Fatal("the test does not run within the module")
	return ""
}
