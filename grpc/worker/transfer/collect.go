package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"assay/grpc/assayv1"
	"assay/grpc/worker/failure"
	"assay/shared/blob"
)

// maxFiles is how many files a run has at most.
const maxFiles = 20

// Collect describes the files at the top of an output folder, and names the folders there, which are not uploaded.
func Collect(folder *os.Root) (files []*assayv1.File, folders []string, err error) {
	top, err := folder.Open(".")
	if err != nil {
		return nil, nil, err
	}
	defer top.Close()
	entries, err := top.ReadDir(maxFiles * maxFiles)
	// ReadDir returns io.EOF as it is for an empty folder, and a program may have removed the folder.
	if err != nil && err != io.EOF && !errors.Is(err, os.ErrNotExist) { //nolint:errorlint // see above
		return nil, nil, err
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			folders = append(folders, e.Name())
			continue
		case !e.Type().IsRegular():
			return nil, nil, failure.New("%q in the output folder is a link or a device: only files are taken.", e.Name())
		case checkName(e.Name()) != nil:
			return nil, nil, failure.New("A file in the output folder cannot be taken: %s.", checkName(e.Name()))
		case len(files) == maxFiles:
			return nil, nil, failure.New("There are more than the %d files in the output folder that a run may have.", maxFiles)
		}
		f, err := describe(folder, e.Name())
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, nil, failure.New("It ended well but left no file in its output folder: write the run as a file into the folder that " +
			"ASSAY_OUTPUT names (in a container /assay/output).")
	}
	return files, folders, nil
}

func describe(folder *os.Root, name string) (*assayv1.File, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, failure.InFile(name, "The output file %s is empty.", name)
	}
	return &assayv1.File{Name: name, Size: n, Sha256: hex.EncodeToString(sum.Sum(nil)), MediaType: blob.MediaTypeOf(name)}, nil
}
