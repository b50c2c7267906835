// Package functions lists the families of resources: what a program serves and what is deployed, each as a function of
// its own.
package functions

import (
	"assay/functions/organizers"
	"assay/functions/service"
	"assay/shared/api"
)

// Families lists the families, in the order of the documentation.
func Families() []api.Group {
	families := []api.Group{
		{Name: "organizers", About: "The organizations that run tasks.", Operations: organizers.Operations},
	}
	return append([]api.Group{{Name: service.Name, About: service.About, Operations: service.Operations(families)}}, families...)
}

// Operations lists the operations of all families.
func Operations() []api.Operation {
	var all []api.Operation
	for _, g := range Families() {
		all = append(all, g.Operations...)
	}
	return all
}
