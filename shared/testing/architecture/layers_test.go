package architecture

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// layers are the folders of shared from the top down. A package imports packages of its own layer and of the layers below it.
var layers = []string{"edge", "service", "domain", "storage", "computation", "language"}

// supportFolder is the one other folder of shared. Its packages are for tests.
const supportFolder = "testing"

// layerRules forbids each layer the layers above it. Packages that support tests may import whatever a test needs.
func layerRules() []rule {
	var out []rule
	for i, layer := range layers[1:] {
		above := layers[:i+1]
		var forbidden []string
		for _, name := range above {
			forbidden = append(forbidden, "assay/shared/"+name+"/...")
		}
		out = append(out, rule{
			packages:  []string{"assay/shared/" + layer + "/..."},
			except:    testSupport,
			forbidden: forbidden,
			reason:    fmt.Sprintf("shared/%s imports only itself and the layers below it (see shared/README.md)", layer),
			example:   edge{"assay/shared/" + layer + "/any", "assay/shared/" + above[i] + "/any"},
		})
	}
	return out
}

func TestLayers_HoldEveryPackageOfShared(t *testing.T) {
	known := append(slices.Clone(layers), supportFolder)
	for _, f := range goFiles(t) {
		below, found := strings.CutPrefix(f.path, "shared/")
		if !found {
			continue
		}
		folder, file, _ := strings.Cut(below, "/")
		if !slices.Contains(known, folder) || !strings.Contains(file, "/") {
			t.Errorf("%s is in no package of a layer: move it to a package below shared/%s", f.path, strings.Join(known, ", shared/"))
		}
	}
}

// TestLayers_StandInTheREADME compares the rows of the table of layers with layers, in their order.
func TestLayers_StandInTheREADME(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "shared", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(content), "\n## Layers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for _, found := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|").FindAllStringSubmatch(section, -1) {
		rows = append(rows, found[1])
	}
	if !slices.Equal(rows, layers) {
		t.Errorf("shared/README.md has the layers %q, want %q", rows, layers)
	}
}
