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
 * Who may do what over HTTP. Nobody sees an order or changes anything without having said who they
 * are; what is not named here is refused.
 */
@Configuration(proxyBeanMethods = false)
class AccessConfiguration {

  /** Everything from here, charts drawn by scripts from here, nothing in a frame. */
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
      FailedLogins failedLogins,
      Refusals refusals)
      throws Exception {
    http.authorizeHttpRequests(
            requests ->
                requests
                    // What has been let in once may finish, be it an error or an answer that came
                    // later.
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
                    // No browser adds it to a request that another site makes it send.
                    .ignoringRequestMatchers(
                        request -> request.getHeader(HttpHeaders.AUTHORIZATION) != null))
        .headers(
            headers ->
                headers
                    .contentSecurityPolicy(policy -> policy.policyDirectives(CONTENT_POLICY))
                    .referrerPolicy(referrer -> referrer.policy(ReferrerPolicy.NO_REFERRER)))
        .exceptionHandling(
            handling -> handling.authenticationEntryPoint(refusals).accessDeniedHandler(refusals))
        .addFilterBefore(failedLogins, UsernamePasswordAuthenticationFilter.class)
        .logout(
            logout ->
                logout
                    .logoutUrl("/api/session/end")
                    .logoutSuccessHandler(
                        (request, response, who) ->
                            response.setStatus(HttpServletResponse.SC_NO_CONTENT)));
    boolean byToken = tokens.getIfAvailable() != null;
    boolean byProvider = providers.getIfAvailable() != null;
    if (!byToken && !byProvider) {
      http.userDetailsService(new LocalUsers(properties.access()).service())
          .httpBasic(basic -> basic.authenticationEntryPoint(refusals))
          .formLogin(
              form ->
                  form.loginPage("/")
                      .loginProcessingUrl("/api/session")
                      .successHandler(
                          (request, response, who) ->
                              response.setStatus(HttpServletResponse.SC_NO_CONTENT))
                      .failureHandler(refusals));
    }
    ClaimedRoles roles = new ClaimedRoles(properties.access());
    if (byToken) {
      http.oauth2ResourceServer(
          server ->
              server
                  .authenticationEntryPoint(refusals)
                  .accessDeniedHandler(refusals)
                  .jwt(jwt -> jwt.jwtAuthenticationConverter(roles.ofToken())));
    }
    if (byProvider) {
      http.oauth2Login(
          login ->
              login
                  .loginPage("/")
                  .defaultSuccessUrl("/", true)
                  .failureUrl("/?refused")
                  .userInfoEndpoint(user -> user.userAuthoritiesMapper(roles.ofUser())));
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
