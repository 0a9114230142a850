package io.ordertimeout.orders.access;

import static org.springframework.http.HttpMethod.GET;
import static org.springframework.http.HttpMethod.HEAD;
import static org.springframework.security.web.servlet.util.matcher.PathPatternRequestMatcher.withDefaults;

import com.github.benmanes.caffeine.cache.Ticker;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.access.session.NewSession;
import io.ordertimeout.orders.access.session.SessionUser;
import io.ordertimeout.orders.access.session.SharedSessions;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.security.oauth2.client.autoconfigure.OAuth2ClientProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.security.access.hierarchicalroles.RoleHierarchy;
import org.springframework.security.access.hierarchicalroles.RoleHierarchyImpl;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.CsrfConfigurer;
import org.springframework.security.config.annotation.web.configurers.RequestCacheConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.crypto.factory.PasswordEncoderFactories;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.server.resource.web.authentication.BearerTokenAuthenticationFilter;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.SimpleUrlAuthenticationFailureHandler;
import org.springframework.security.web.context.DelegatingSecurityContextRepository;
import org.springframework.security.web.context.RequestAttributeSecurityContextRepository;
import org.springframework.security.web.context.SecurityContextHolderFilter;
import org.springframework.security.web.csrf.CsrfFilter;
import org.springframework.security.web.firewall.RequestRejectedHandler;
import org.springframework.security.web.header.writers.ReferrerPolicyHeaderWriter.ReferrerPolicy;
import org.springframework.security.web.util.matcher.OrRequestMatcher;
import org.springframework.security.web.util.matcher.RequestMatcher;
import tools.jackson.databind.json.JsonMapper;

/**
 * The authentication and authorization rules of the HTTP API and the console. Reading orders and
 * changing anything requires authentication; a path without a rule is denied.
 */
@Configuration(proxyBeanMethods = false)
class AccessConfiguration {

  /** Allows resources and scripts of this origin and the script in index.html, and no framing. */
  static final String CONTENT_POLICY =
      "default-src 'self'; img-src 'self' data:; style-src 'self';"
          + " script-src 'self' 'sha256-qMeDNGlhKMyT3MNNa9KJsgR2zJyIeHv19CeYIMcAvv8=';"
          + " connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self';"
          + " frame-ancestors 'none'";

  private static final String LOG_IN = "/api/v1/session";

  @Bean
  SecurityFilterChain access(
      HttpSecurity http,
      ObjectProvider<JwtDecoder> tokens,
      ObjectProvider<ClientRegistrationRepository> providers,
      ObjectProvider<OAuth2ClientProperties> clients,
      SharedSessions<?> sessions,
      OrderTimeoutProperties properties,
      SecurityProblemHandler problems,
      JsonMapper json)
      throws Exception {
    boolean acceptsTokens = tokens.getIfAvailable() != null;
    boolean hasIdentityProvider = providers.getIfAvailable() != null;
    boolean acceptsPasswords = !acceptsTokens && !hasIdentityProvider;
    Map<String, LocalUsers.User> users =
        acceptsPasswords ? new LocalUsers(properties.access()).byName() : Map.of();
    http.authorizeHttpRequests(
            requests ->
                requests
                    // Error pages and asynchronous responses belong to a request that has already
                    // been authorized.
                    .dispatcherTypeMatchers(DispatcherType.ERROR, DispatcherType.ASYNC)
                    .permitAll()
                    .requestMatchers(
                        reading(
                            "/",
                            "/index.html",
                            "/console/**",
                            "/webjars/**",
                            "/contracts/*",
                            "/api/v1/session"))
                    .permitAll()
                    .requestMatchers(reading("/api/v1/**"))
                    .hasRole(Role.VIEWER.name())
                    .requestMatchers("/api/v1/**")
                    .hasRole(Role.OPERATOR.name())
                    .anyRequest()
                    .access((user, path) -> SecurityProblemHandler.denyUnknown(path.getRequest())))
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
        .securityContext(
            context ->
                context.securityContextRepository(
                    new DelegatingSecurityContextRepository(
                        new RequestAttributeSecurityContextRepository(),
                        new SessionUser(new SessionProof(users)))))
        .sessionManagement(
            management -> management.sessionAuthenticationStrategy(new NewSession(sessions)))
        .addFilterBefore(new UnavailableSessionsFilter(problems), SecurityContextHolderFilter.class)
        // Remembering a refused request would create a session.
        .requestCache(RequestCacheConfigurer::disable)
        .addFilterBefore(
            new RequestBodyFilter(
                request ->
                    acceptsPasswords
                        && request.getMethod().equals("POST")
                        && request.getRequestURI().equals(request.getContextPath() + LOG_IN),
                properties.access(),
                problems),
            CsrfFilter.class)
        .logout(
            logout ->
                logout
                    .logoutUrl("/api/v1/session/end")
                    .logoutSuccessHandler(
                        (request, response, authentication) ->
                            response.setStatus(HttpServletResponse.SC_NO_CONTENT)));
    LogInAttempts attempts =
        new LogInAttempts(
            properties.access().maxFailures(),
            properties.access().failuresWithin(),
            Ticker.systemTicker());
    if (acceptsPasswords) {
      http.authenticationProvider(
              new LocalUserAuthentication(
                  users,
                  new PasswordHashing(PasswordEncoderFactories.createDelegatingPasswordEncoder()),
                  attempts))
          .httpBasic(basic -> basic.authenticationEntryPoint(problems))
          .formLogin(
              form ->
                  form.loginPage("/")
                      .loginProcessingUrl(LOG_IN)
                      .successHandler(
                          (request, response, authentication) ->
                              response.setStatus(HttpServletResponse.SC_NO_CONTENT))
                      .failureHandler(problems));
    }
    ClaimRoleMapper roles = new ClaimRoleMapper(properties.access());
    if (acceptsTokens) {
      TokenFailureLimit limit = new TokenFailureLimit(attempts, problems);
      http.addFilterBefore(limit, BearerTokenAuthenticationFilter.class);
      http.oauth2ResourceServer(
          server ->
              server
                  .authenticationEntryPoint(limit)
                  .accessDeniedHandler(problems)
                  .jwt(jwt -> jwt.jwtAuthenticationConverter(roles.tokenConverter())));
    }
    if (hasIdentityProvider) {
      SimpleUrlAuthenticationFailureHandler failureHandler =
          new SimpleUrlAuthenticationFailureHandler("/?refused");
      failureHandler.setAllowSessionCreation(false);
      http.oauth2Login(
          login ->
              login
                  .loginPage("/")
                  .defaultSuccessUrl("/", true)
                  .failureHandler(failureHandler)
                  .authorizationEndpoint(
                      endpoint ->
                          endpoint.authorizationRequestRepository(
                              new LogInCookies(json, clients.getIfAvailable())))
                  .userInfoEndpoint(
                      user -> user.userAuthoritiesMapper(roles.userAuthoritiesMapper())));
    }
    return http.build();
  }

  /**
   * Health and metrics are for everybody who can reach their port, and know neither users nor
   * sessions.
   */
  @Bean
  @Order(Ordered.HIGHEST_PRECEDENCE)
  SecurityFilterChain monitoring(HttpSecurity http, SecurityProblemHandler problems)
      throws Exception {
    return http.securityMatcher("/actuator/**")
        .authorizeHttpRequests(
            requests ->
                requests
                    .dispatcherTypeMatchers(DispatcherType.ERROR, DispatcherType.ASYNC)
                    .permitAll()
                    .requestMatchers(
                        reading(
                            "/actuator/health",
                            "/actuator/health/**",
                            "/actuator/info",
                            "/actuator/prometheus"))
                    .permitAll()
                    .anyRequest()
                    .access((user, path) -> SecurityProblemHandler.denyUnknown(path.getRequest())))
        .csrf(CsrfConfigurer::disable)
        .sessionManagement(
            management -> management.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
        .requestCache(RequestCacheConfigurer::disable)
        .exceptionHandling(
            handling -> handling.authenticationEntryPoint(problems).accessDeniedHandler(problems))
        .build();
  }

  /** Matches requests that read one of these paths. */
  private static RequestMatcher reading(String... paths) {
    return new OrRequestMatcher(
        Stream.of(paths)
            .flatMap(
                path -> Stream.of(GET, HEAD).map(method -> withDefaults().matcher(method, path)))
            .toArray(RequestMatcher[]::new));
  }

  /** Responds to requests whose path the firewall of Spring Security rejects. */
  @Bean
  static RequestRejectedHandler rejectedRequests(SecurityProblemHandler problems) {
    return (request, response, rejected) ->
        problems.write(
            request, response, HttpStatus.BAD_REQUEST, String.valueOf(rejected.getMessage()));
  }

  @Bean
  static RoleHierarchy roleHierarchy() {
    return RoleHierarchyImpl.withDefaultRolePrefix()
        .role(Role.OPERATOR.name())
        .implies(Role.VIEWER.name())
        .build();
  }
}
