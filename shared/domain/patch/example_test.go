package patch_test

import (
	"fmt"

	"assay/shared/domain/patch"
)

var task = []byte(`{"id":"01JZ3V7Q0D8T5RZ0S6R1W9C4XK","name":"Lakes","tags":["fish"]}`)

func ExampleApply() {
	writable := []string{"name", "tags"}
	changed, err := patch.Apply(patch.MergePatch, []byte(`{"name":"Rivers","tags":null}`), task, writable)
	fmt.Printf("%s%v\n", changed, err)
	changed, err = patch.Apply(patch.JSONPatch, []byte(`[{"op":"add","path":"/tags/-","value":"water"}]`), task, writable)
	fmt.Printf("%s%v\n", changed, err)
	// Output:
	// {"name":"Rivers"}
	// <nil>
	// {"name":"Lakes","tags":["fish","water"]}
	// <nil>
}

func ExampleApply_refused() {
	_, err := patch.Apply(patch.MergePatch, []byte(`{"id":"1"}`), task, []string{"name", "tags"})
	fmt.Println(err)
	// Output: invalid: The body has a fault; `errors` says where and what.
}
