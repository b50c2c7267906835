package main

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/shared/language/buildinfo"
)

// wheelName is the name in the paths of a wheel, and the name of its module. On PyPI, "assay" and similar names belong to other projects.
const wheelName = "assay_tasks"

// metadata is the file METADATA of the wheel. Indexes such as PyPI show the text below the members as the page of the wheel.
const metadata = `Metadata-Version: 2.4
Name: assay-tasks
Version: %s
Summary: The command line of Assay, and a module that evaluates and submits runs with it
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.9
Description-Content-Type: text/markdown

Assay runs shared tasks for researchers. This package has its command line, the program assay, which takes part in tasks of a server and
evaluates files without one, and a module without dependencies:

    import assay_tasks

    scores = assay_tasks.evaluate({"1": {"lake": 1}}, {"1": {"lake": 2.5, "sea": 1.0}}, ["nDCG@10", "RR"])
    assay_tasks.submit("Lake search", "run.txt", team="Otters")
`

const wheelMetadata = `Wheel-Version: 1.0
Generator: assay-release
Root-Is-Purelib: false
`

// writeWheel writes the wheel with the tags, such as py3-none-win_amd64. It contains a module, and the program as a script.
func writeWheel(out io.Writer, tags, program, module string) error {
	w := zip.NewWriter(out)
	about, record := wheelName+"-"+buildinfo.Version+".dist-info/", ""
	add := func(name string, content []byte) error {
		// ZIP has no times before 1980.
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(0o755)
		to, err := w.CreateHeader(h)
		if err == nil {
			_, err = to.Write(content)
		}
		sum := sha256.Sum256(content)
		record += fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(content))
		return err
	}
	script := wheelName + "-" + buildinfo.Version + ".data/scripts/assay" + filepath.Ext(program)
	for _, f := range [][2]string{{wheelName + ".py", module}, {script, program}, {about + "licenses/LICENSE", "LICENSE"}} {
		content, err := os.ReadFile(f[1]) //nolint:gosec // the release names the file
		if err := cmp.Or(err, add(f[0], content)); err != nil {
			return err
		}
	}
	text, prefix := wheelMetadata, "py3-none-"
	for platform := range strings.SplitSeq(strings.TrimPrefix(tags, prefix), ".") {
		text += "Tag: " + prefix + platform + "\n"
	}
	return errors.Join(add(about+"METADATA", fmt.Appendf(nil, metadata, buildinfo.Version)), add(about+"WHEEL", []byte(text)),
		add(about+"RECORD", []byte(record+about+"RECORD,,\n")), w.Close())
}
