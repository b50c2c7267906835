package page_test

import (
	"fmt"
	"strings"

	"assay/shared/domain/page"
)

// The example pages through a list in the program, two entries at a time.
func ExampleOf() {
	measures := []string{"AP", "MRR", "nDCG"}
	list := page.Spec{List: true, Named: true}
	for address := "/v1/measures?limit=2"; address != ""; {
		_, query, _ := strings.Cut(address, "?")
		request, err := list.Parse(query)
		if err != nil {
			fmt.Println(err)
			return
		}
		p, err := page.Of(request, measures, func(name string) string { return name })
		if err != nil {
			fmt.Println(err)
			return
		}
		p.Link("/v1/measures", query, request)
		fmt.Printf("%v self=%s next=%s\n", p.Data, p.Links.Self, p.Links.Next)
		address = p.Links.Next
	}
	// Output:
	// [AP MRR] self=/v1/measures?limit=2 next=/v1/measures?cursor=nDCG&limit=2
	// [nDCG] self=/v1/measures?cursor=nDCG&limit=2 next=
}

func ExampleSpec_Parse() {
	list := page.Spec{List: true, Filters: []page.Filter{{Name: "split", Type: page.Enum, Values: []string{"training", "test"}}}}
	request, err := list.Parse("limit=500&filter[split]=test")
	fmt.Println(request.Limit, request.Matches("split", "test"), request.Matches("split", "training"), err)
	_, err = list.Parse("filter[split]=validation")
	fmt.Println(err)
	// Output:
	// 200 true false <nil>
	// invalid-parameter: filter[split] takes training, test; not "validation".
}
