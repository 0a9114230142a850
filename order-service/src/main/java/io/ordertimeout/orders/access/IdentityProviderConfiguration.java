package io.ordertimeout.orders.access;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.security.oauth2.client.autoconfigure.ConditionalOnOAuth2ClientRegistrationProperties;
import org.springframework.boot.security.oauth2.client.autoconfigure.OAuth2ClientProperties;
import org.springframework.boot.security.oauth2.client.autoconfigure.OAuth2ClientPropertiesMapper;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.registration.InMemoryClientRegistrationRepository;
import org.springframework.security.oauth2.client.registration.SupplierClientRegistrationRepository;

/** Log-in to the console through an identity provider (OpenID Connect), if one is configured. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnOAuth2ClientRegistrationProperties
@EnableConfigurationProperties(OAuth2ClientProperties.class)
class IdentityProviderConfiguration {

  /** Asks the provider for its endpoints at the first log-in, so that startup does not need it. */
  @Bean
  ClientRegistrationRepository clientRegistrations(OAuth2ClientProperties properties) {
    return new SupplierClientRegistrationRepository(
        () ->
            new InMemoryClientRegistrationRepository(
                new OAuth2ClientPropertiesMapper(properties).asClientRegistrations()));
  }
}
