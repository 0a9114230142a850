package io.ordertimeout.orders.access;

import static org.springframework.http.HttpMethod.GET;

import io.ordertimeout.orders.OrderTimeoutProperties;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.security.access.hierarchicalroles.RoleHierarchy;
import org.springframework.security.access.hierarchicalroles.RoleHierarchyImpl;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.UsernamePasswordAuthenticationFilter;
import org.springframework.security.web.header.writers.ReferrerPolicyHeaderWriter.ReferrerPolicy;

/**
 * The authentication and authorization rules of the HTTP API and the console. Reading orders and
 * changing anything requires authentication; a path without a rule is denied.
 */
@Configuration(proxyBeanMethods = false)
class AccessConfiguration {

  /** Allows resources and scripts of this origin only, and no framing. */
  private static final String CONTENT_POLICY =
      "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self';"
          + " connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self';"
          + " frame-ancestors 'none'";

  @Bean
  SecurityFilterChain access(
      HttpSecurity http,
      ObjectProvider<JwtDecoder> tokens,
      ObjectProvider<ClientRegistrationRepository> providers,
      OrderTimeoutProperties properties,
      LoginRateLimiter loginRateLimiter,
      SecurityProblemHandler problems)
      throws Exception {
    http.authorizeHttpRequests(
            requests ->
                requests
                    // Error pages and asynchronous responses belong to a request that has already
                    // been authorized.
                    .dispatcherTypeMatchers(DispatcherType.ERROR, DispatcherType.ASYNC)
                    .permitAll()
                    .requestMatchers(
                        GET, "/", "/index.html", "/console/**", "/webjars/**", "/api/session")
                    .permitAll()
                    .requestMatchers(GET, "/api/openapi", "/api/openapi/**")
                    .permitAll()
                    .requestMatchers(
                        GET,
                        "/actuator/health",
                        "/actuator/health/**",
                        "/actuator/info",
                        "/actuator/prometheus")
                    .permitAll()
                    .requestMatchers(GET, "/api/**")
                    .hasRole(Role.VIEWER.name())
                    .requestMatchers("/api/**")
                    .hasRole(Role.OPERATOR.name())
                    .anyRequest()
                    .denyAll())
        .csrf(
            csrf ->
                csrf.spa()
                    // A browser never adds this header to a cross-site request by itself.
                    .ignoringRequestMatchers(
                        request -> request.getHeader(HttpHeaders.AUTHORIZATION) != null))
        .headers(
            headers ->
                headers
                    .contentSecurityPolicy(policy -> policy.policyDirectives(CONTENT_POLICY))
                    .referrerPolicy(referrer -> referrer.policy(ReferrerPolicy.NO_REFERRER)))
        .exceptionHandling(
            handling -> handling.authenticationEntryPoint(problems).accessDeniedHandler(problems))
        .addFilterBefore(loginRateLimiter, UsernamePasswordAuthenticationFilter.class)
        .logout(
            logout ->
                logout
                    .logoutUrl("/api/session/end")
                    .logoutSuccessHandler(
                        (request, response, authentication) ->
                            response.setStatus(HttpServletResponse.SC_NO_CONTENT)));
    boolean acceptsTokens = tokens.getIfAvailable() != null;
    boolean hasIdentityProvider = providers.getIfAvailable() != null;
    if (!acceptsTokens && !hasIdentityProvider) {
      http.userDetailsService(new LocalUsers(properties.access()).userDetailsService())
          .httpBasic(basic -> basic.authenticationEntryPoint(problems))
          .formLogin(
              form ->
                  form.loginPage("/")
                      .loginProcessingUrl("/api/session")
                      .successHandler(
                          (request, response, authentication) ->
                              response.setStatus(HttpServletResponse.SC_NO_CONTENT))
                      .failureHandler(problems));
    }
    ClaimRoleMapper roles = new ClaimRoleMapper(properties.access());
    if (acceptsTokens) {
      http.oauth2ResourceServer(
          server ->
              server
                  .authenticationEntryPoint(problems)
                  .accessDeniedHandler(problems)
                  .jwt(jwt -> jwt.jwtAuthenticationConverter(roles.tokenConverter())));
    }
    if (hasIdentityProvider) {
      http.oauth2Login(
          login ->
              login
                  .loginPage("/")
                  .defaultSuccessUrl("/", true)
                  .failureUrl("/?refused")
                  .userInfoEndpoint(
                      user -> user.userAuthoritiesMapper(roles.userAuthoritiesMapper())));
    }
    return http.build();
  }

  @Bean
  static RoleHierarchy roleHierarchy() {
    return RoleHierarchyImpl.withDefaultRolePrefix()
        .role(Role.OPERATOR.name())
        .implies(Role.VIEWER.name())
        .build();
  }
}
