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

/** Where people log in to the console, if that is somewhere else. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnOAuth2ClientRegistrationProperties
@EnableConfigurationProperties(OAuth2ClientProperties.class)
class LogInProviders {

  /** Asks a provider for its addresses when somebody logs in: orders do not wait for it. */
  @Bean
  ClientRegistrationRepository clientRegistrations(OAuth2ClientProperties properties) {
    return new SupplierClientRegistrationRepository(
        () ->
            new InMemoryClientRegistrationRepository(
                new OAuth2ClientPropertiesMapper(properties).asClientRegistrations()));
  }
}
