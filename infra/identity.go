package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/jsii-runtime-go"
)

// issuer is the token issuer that the API trusts.
type issuer struct {
	url      *string
	audience *string // of its tokens
	clientID *string // of the sign-in page; nil: the page only explains how to get a token
}

// groups are groups in tokens that give a role on the whole platform.
var groups = []struct{ id, name, about string }{
	{"Admins", "admins", "Run the platform"},
	{"Workers", "workers", "Execute runs and report on them"},
}

// addIssuer creates a user pool, unless the context names an issuer.
func (st *stack) addIssuer() issuer {
	if st.Issuer != "" {
		i := issuer{url: &st.Issuer, audience: &st.Audience}
		if st.ClientID != "" {
			i.clientID = &st.ClientID
		}
		return i
	}
	pool := st.addUserPool()
	client := st.addSignIn(pool)
	for _, g := range groups {
		awscognito.NewCfnUserPoolGroup(st.scope, jsii.String(g.id+"Group"), &awscognito.CfnUserPoolGroupProps{
			UserPoolId: pool.Ref(), GroupName: jsii.String(g.name), Description: jsii.String(g.about),
		})
	}
	return issuer{
		url:      awscdk.Fn_Join(jsii.String(""), jsii.Strings("https://", *pool.AttrProviderName())),
		audience: client.Ref(),
		clientID: client.Ref(),
	}
}

// addSignIn creates the sign-in page of the pool, and the client as which the console and other programs of users call it.
func (st *stack) addSignIn(pool awscognito.CfnUserPool) awscognito.CfnUserPoolClient {
	returns := jsii.Strings(append([]string{*st.console()}, st.SignInReturns...)...)
	client := awscognito.NewCfnUserPoolClient(st.scope, jsii.String("SignInClient"), &awscognito.CfnUserPoolClientProps{
		UserPoolId:                 pool.Ref(),
		ClientName:                 jsii.String(st.resourceName("pages")),
		SupportedIdentityProviders: jsii.Strings("COGNITO"),

		// The clients cannot keep a secret, so there is none. PKCE proves who requested a code.
		GenerateSecret:                  false,
		AllowedOAuthFlowsUserPoolClient: true,
		AllowedOAuthFlows:               jsii.Strings("code"),
		AllowedOAuthScopes:              jsii.Strings("openid", "email", "profile"),
		CallbackUrLs:                    returns,
		LogoutUrLs:                      returns,

		ExplicitAuthFlows:          jsii.Strings("ALLOW_USER_SRP_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"),
		EnableTokenRevocation:      true,
		PreventUserExistenceErrors: jsii.String("ENABLED"),

		IdTokenValidity:      jsii.Number(60),
		AccessTokenValidity:  jsii.Number(60),
		RefreshTokenValidity: jsii.Number(30),
		TokenValidityUnits: awscognito.CfnUserPoolClient_TokenValidityUnitsProperty{
			IdToken: jsii.String("minutes"), AccessToken: jsii.String("minutes"), RefreshToken: jsii.String("days"),
		},
	})
	awscognito.NewCfnUserPoolDomain(st.scope, jsii.String("SignInDomain"), &awscognito.CfnUserPoolDomainProps{
		Domain: awscdk.Fn_Sub(jsii.String(st.resourceName("${AWS::AccountId}")), nil), UserPoolId: pool.Ref(),
	})
	return client
}

// console returns the URL of the page to which the issuer returns.
func (st *stack) console() *string {
	return awscdk.Fn_Join(jsii.String(""), jsii.Strings(*st.gateway.url, "/console"))
}

// addUserPool creates a pool in which users sign up by themselves. The ids of users depend on the pool, and a deleted pool takes
// everybody's rights with it. So the pool is retained like data.
func (st *stack) addUserPool() awscognito.CfnUserPool {
	protection := "INACTIVE"
	if st.protects() {
		protection = "ACTIVE"
	}
	pool := awscognito.NewCfnUserPool(st.scope, jsii.String("Users"), &awscognito.CfnUserPoolProps{
		UserPoolName:       jsii.String(st.resourceName("users")),
		UserPoolTier:       jsii.String("LITE"),
		DeletionProtection: &protection,
		EmailConfiguration: st.mails(),

		UsernameAttributes:     jsii.Strings("email"),
		AutoVerifiedAttributes: jsii.Strings("email"),
		UsernameConfiguration:  awscognito.CfnUserPool_UsernameConfigurationProperty{CaseSensitive: false},
		AdminCreateUserConfig:  awscognito.CfnUserPool_AdminCreateUserConfigProperty{AllowAdminCreateUserOnly: false},
		Schema: []any{
			awscognito.CfnUserPool_SchemaAttributeProperty{Name: jsii.String("email"), Required: true, Mutable: true},
			awscognito.CfnUserPool_SchemaAttributeProperty{Name: jsii.String("name"), Required: true, Mutable: true},
		},
		UserAttributeUpdateSettings: awscognito.CfnUserPool_UserAttributeUpdateSettingsProperty{
			AttributesRequireVerificationBeforeUpdate: jsii.Strings("email"),
		},

		Policies: awscognito.CfnUserPool_PoliciesProperty{PasswordPolicy: awscognito.CfnUserPool_PasswordPolicyProperty{
			MinimumLength: jsii.Number(12), RequireLowercase: false, RequireUppercase: false, RequireNumbers: false, RequireSymbols: false,
			TemporaryPasswordValidityDays: jsii.Number(7),
		}},
		MfaConfiguration: jsii.String("OPTIONAL"),
		EnabledMfas:      jsii.Strings("SOFTWARE_TOKEN_MFA"),
		AccountRecoverySetting: awscognito.CfnUserPool_AccountRecoverySettingProperty{RecoveryMechanisms: []any{
			awscognito.CfnUserPool_RecoveryOptionProperty{Name: jsii.String("verified_email"), Priority: jsii.Number(1)},
		}},
	})
	st.retainData(pool)
	return pool
}

// mails returns how the user pool sends mails: from the address in the settings or, with nil, from an address of Cognito. It warns of the
// limit of Cognito's address.
func (st *stack) mails() any {
	if st.MailFrom != "" {
		return awscognito.CfnUserPool_EmailConfigurationProperty{
			EmailSendingAccount: jsii.String("DEVELOPER"), SourceArn: &st.MailIdentity, From: &st.MailFrom,
		}
	}
	if st.AsksForMail {
		awscdk.Annotations_Of(st.scope).AddWarningV2(jsii.String("assay:mails"), jsii.String("The user pool sends at most 50 mails a day, for "+
			"sign-ups and forgotten passwords together: with more, nobody can sign up until the next day. Give mailFrom and mailIdentity, an "+
			"address of yours that is verified in Amazon SES (infra/README.md), or issuer and audience."))
	}
	return nil
}
