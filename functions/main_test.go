package functions_test

import (
	"os"
	"testing"

	"assay/shared/testing/programtest"
)

func TestMain(m *testing.M) { os.Exit(programtest.Run(m)) }
