// Package ses sends e-mails with Amazon SES.
package ses

import (
	"context"

	"assay/shared/edge/mail"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
)

// New returns a sender with the address from. The address must belong to an identity that SES has verified.
func New(cfg aws.Config, from string) (mail.Sender, error) {
	sender, err := mail.ParseFrom(from)
	if err != nil {
		return nil, err
	}
	client := sesv2.NewFromConfig(cfg)
	return func(ctx context.Context, m mail.Message) error {
		content, err := m.MIME(sender)
		if err != nil {
			return err
		}
		_, err = client.SendEmail(ctx, &sesv2.SendEmailInput{
			FromEmailAddress: aws.String(sender.String()), Destination: &types.Destination{ToAddresses: []string{m.To}},
			Content: &types.EmailContent{Raw: &types.RawMessage{Data: content}},
		})
		return err
	}, nil
}
